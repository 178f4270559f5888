// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.elf.ArArchive;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.BuildAttributes;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Objects and libraries that others compiled fit the image, or are refused with both values. */
class ForeignObjectsTest {
    private static final String SCALE = "float scale(float x);\nfloat scale(float x) { return 2.0f * x; }\n";

    @TempDir
    private Path folder;

    /** What real compilers make for one core, and what another core says of it; a dash where it fits. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "arm-none-eabi|-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16|-mcpu=cortex-m4 -mfloat-abi=hard"
                        + " -mfpu=fpv4-sp-d16|-",
                "arm-none-eabi|-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16|-mcpu=cortex-m4 -mfloat-abi=soft|the"
                        + " calling convention: it has floats in core registers (-mfloat-abi=soft or softfp), the image"
                        + " floats in FPU registers",
                "arm-none-eabi|-mcpu=cortex-m4 -mfloat-abi=soft|-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16"
                        + "|the floating-point instructions: it has VFPv4-D16, single precision, the image no FPU",
                "arm-none-eabi|-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16|-mcpu=cortex-m7 -mfloat-abi=hard"
                        + " -mfpu=fpv5-d16|FPv5, double precision, the image VFPv4-D16, single precision",
                "arm-none-eabi|-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16|-mcpu=cortex-m4 -mfloat-abi=hard"
                        + " -mfpu=fpv4-sp-d16|-",
                "arm-none-eabi|-mcpu=cortex-m3|-mcpu=cortex-m0|-",
                "arm-none-eabi|-mcpu=cortex-m0|-mcpu=cortex-m3|the architecture: it has Armv7-M, the image Armv6S-M",
                "arm-none-eabi|-mcpu=cortex-m3|-mcpu=cortex-m4|the architecture: it has Armv7E-M, the image Armv7-M",
                "arm-none-eabi|-mcpu=cortex-m33|-mcpu=cortex-m4|-",
                "arm-none-eabi|-mcpu=cortex-m33+nodsp|-mcpu=cortex-m4|Armv7E-M, the image Armv8-M mainline",
                "arm-none-eabi|-mcpu=cortex-m55|-mcpu=cortex-m33|-",
                "arm-none-eabi|-mcpu=cortex-m33|-mcpu=cortex-m55|the image Armv8-M mainline",
                "arm-none-eabi|-mcpu=cortex-m4|-mcpu=cortex-m23|the architecture: it has Armv8-M baseline, the image"
                        + " Armv7E-M",
                "arm-none-eabi|-mcpu=cortex-m4|-mcpu=cortex-a9 -marm|the architecture: it has Armv7-A",
                "arm-none-eabi|-mcpu=cortex-m4|-mcpu=cortex-m4 -mbig-endian|the byte order: it has big endian, the"
                        + " image little endian",
                "arm-none-eabi|-mcpu=cortex-m4|-mcpu=cortex-m4 -fno-short-enums|-",
                "riscv64-unknown-elf|-march=rv32imac -mabi=ilp32|-march=rv32imc -mabi=ilp32|-",
                "riscv64-unknown-elf|-march=rv32imc -mabi=ilp32|-march=rv32imac -mabi=ilp32|the extensions (a): it has"
                        + " rv32i",
                "riscv64-unknown-elf|-march=rv32imac -mabi=ilp32|-march=rv32imafc -mabi=ilp32f|the calling convention:"
                        + " it has floats in FPU registers (ilp32f), the image floats in integer registers (ilp32)",
                "riscv64-unknown-elf|-march=rv32imac -mabi=ilp32|-march=rv32imafc -mabi=ilp32|the extensions (f)",
                "riscv64-unknown-elf|-march=rv32imac -mabi=ilp32|-march=rv32ec -mabi=ilp32e|the registers: it has 16"
                        + " (RV32E), the image 32",
                "riscv64-unknown-elf|-march=rv32imac -mabi=ilp32|-march=rv64imac -mabi=lp64|the machine: it has RISC-V"
                        + " with 64 bits, the image RISC-V",
            })
    void bothValuesAreNamed(String prefix, String image, String object, String expected) throws IOException {
        ObjectAbi own = abi(compiled(prefix, image, "own"));
        List<String> said = own.differences(abi(compiled(prefix, object, "other"))).stream()
                .map(ObjectAbi.Difference::text)
                .toList();
        if (expected.equals("-")) {
            assertThat(said).isEmpty();
        } else {
            assertThat(said).anySatisfy(text -> assertThat(text).contains(expected));
        }
    }

    @Test
    void anotherMachineIsNamed() throws IOException {
        ObjectAbi arm = abi(compiled("arm-none-eabi", "-mcpu=cortex-m4", "arm"));
        ObjectAbi riscv = abi(compiled("riscv64-unknown-elf", "-march=rv32imac -mabi=ilp32", "riscv"));
        assertThat(arm.differences(riscv)).containsExactly(new ObjectAbi.Difference("the machine", "RISC-V", "Arm"));
    }

    @Test
    void aBuildNamesEveryLibraryThatDoesNotFit() throws IOException {
        String soft = compiled("arm-none-eabi", "-mcpu=cortex-m4 -mfloat-abi=soft", "with_a_name_longer_than_sixteen")
                .toString();
        String good = compiled("arm-none-eabi", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16", "good")
                .toString();
        Path sources = Files.createDirectories(folder.resolve("src"));
        Files.writeString(folder.resolve("code.o"), "BC\u00c0\u00de bitcode", StandardCharsets.ISO_8859_1);
        run("arm-none-eabi-ar", "rcs", sources.resolve("libsoft.a").toString(), soft, good);
        run("arm-none-eabi-ar", "rcsT", sources.resolve("libthin.a").toString(), good);
        run(
                "arm-none-eabi-ar",
                "rcS",
                sources.resolve("libbitcode.a").toString(),
                folder.resolve("code.o").toString());
        run("arm-none-eabi-ar", "rcs", sources.resolve("libgood.a").toString(), good);
        Files.writeString(sources.resolve("libshort.a"), "!<arch>\nno header");

        assertThatThrownBy(() -> link(sources))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("libsoft.a(with_a_name_longer_than_sixteen.o)")
                .hasMessageContaining(
                        "floats in core registers (-mfloat-abi=soft or softfp), the image floats in FPU registers")
                .hasMessageContaining("libthin.a: this is a thin static library")
                .hasMessageContaining("libbitcode.a(code.o): this is LLVM bitcode")
                .hasMessageContaining("libshort.a, offset 0x8: this is not a whole static library")
                .hasMessageNotContaining("good.o")
                .hasMessageNotContaining("libgood.a");
        for (String name : List.of("libsoft.a", "libthin.a", "libbitcode.a", "libshort.a")) {
            Files.delete(sources.resolve(name));
        }
        assertThatCode(() -> link(sources)).doesNotThrowAnyException();
    }

    /** Assemblers say nothing of the calls of functions, and what start-up files of chips' makers say of the FPU is wrong. */
    @Test
    void anImageIsWhatItsCIsCompiledFor() throws IOException {
        Path board = Files.createDirectories(folder.resolve("boards/mine"));
        Files.writeString(
                board.resolve("board.yaml"),
                "schema: 1\nid: mine\nextends: mps2-an386\nsources:"
                        + " [boot.S, startup.c, fault.c, exit.c, console.c, timer.c]\n");
        Files.writeString(board.resolve("boot.S"), ".syntax unified\n.fpu softvfp\n.thumb\nfirst: bx lr\n");
        Path sources = Files.createDirectories(folder.resolve("src"));
        String hard = compiled("arm-none-eabi", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16", "hard")
                .toString();
        String soft = compiled("arm-none-eabi", "-mcpu=cortex-m4 -mfloat-abi=soft", "soft")
                .toString();
        run("arm-none-eabi-ar", "rcs", sources.resolve("libscale.a").toString(), hard);
        Board mine = Boards.builtIn().with(folder.resolve("boards")).find("mine");
        assertThatCode(() -> link(mine, sources)).doesNotThrowAnyException();
        run("arm-none-eabi-ar", "rcs", sources.resolve("libscale.a").toString(), soft);
        assertThatThrownBy(() -> link(mine, sources))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("libscale.a(soft.o)")
                .hasMessageNotContaining("hard.o");
    }

    private void link(Path sources) {
        link(TestFirmware.board("mps2-an386"), sources);
    }

    private void link(Board board, Path sources) {
        FirmwareRequest plain =
                TestFirmware.request(board, "gnu", Optimize.SIZE, List.of(TestFirmware.model("default", 100)), folder);
        FirmwareRequest request = plain.with(plain.content().with(UserCode.of(sources)));
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        FirmwareLinker.link(objects, folder.resolve("out"), "app", Log.QUIET);
    }

    /** Cut and changed files end in a message, never in another exception, and soon. */
    @Test
    void damagedFilesAreRefusedOrRead() throws IOException {
        byte[] object = Files.readAllBytes(compiled("riscv64-unknown-elf", "-march=rv32imac -mabi=ilp32", "riscv"));
        byte[] arm = Files.readAllBytes(compiled("arm-none-eabi", "-mcpu=cortex-m4", "arm"));
        run("arm-none-eabi-ar", "rcs", "lib.a", "arm.o", "riscv.o");
        byte[] library = Files.readAllBytes(folder.resolve("lib.a"));
        Random random = new Random(31);
        int attributes = attributesAt(arm);
        for (int i = 0; i < 4000; i++) {
            int from = i % 2 == 0 ? 0 : attributes;
            read(changed(arm, from, i % 2 == 0 ? arm.length : attributes + 60, random));
            read(changed(object, 0, object.length, random));
            members(changed(library, 0, library.length, random));
            read(Arrays.copyOf(arm, random.nextInt(arm.length)));
            members(Arrays.copyOf(library, random.nextInt(library.length)));
        }
    }

    private static int attributesAt(byte[] object) {
        ElfFile elf = ElfFile.read(Bytes.wrap(object), "object");
        return (int) elf.sections().stream()
                .filter(section -> section.name().equals(".ARM.attributes"))
                .findFirst()
                .orElseThrow()
                .offset();
    }

    private static byte[] changed(byte[] whole, int from, int to, Random random) {
        byte[] copy = whole.clone();
        for (int n = 1 + random.nextInt(4); n > 0; n--) {
            copy[from + random.nextInt(Math.min(to, copy.length) - from)] = (byte) random.nextInt(256);
        }
        return copy;
    }

    private static void read(byte[] content) {
        Throwable failure = catchThrowable(() -> {
            ElfFile elf = ElfFile.read(Bytes.wrap(content), "object");
            Optional<BuildAttributes> attributes = BuildAttributes.of(elf, "object");
            ObjectAbi abi = ObjectAbi.of(elf, "object");
            assertThat(abi.differences(abi)).isEmpty();
            assertThat(attributes.map(BuildAttributes::numbers).isPresent()).isEqualTo(attributes.isPresent());
        });
        if (failure != null) {
            assertThat(failure).isInstanceOf(KilnException.class);
        }
    }

    private static void members(byte[] content) {
        Throwable failure = catchThrowable(() -> {
            long sum = ArArchive.read("lib.a", Bytes.wrap(content)).stream()
                    .mapToLong(member -> member.content().size())
                    .sum();
            assertThat(sum).isLessThanOrEqualTo(content.length);
        });
        if (failure != null) {
            assertThat(failure).isInstanceOf(KilnException.class);
        }
    }

    private static ObjectAbi abi(Path object) {
        return ObjectAbi.of(ElfFile.read(object), object.toString());
    }

    private Path compiled(String prefix, String flags, String name) throws IOException {
        Files.writeString(folder.resolve("scale.c"), SCALE);
        List<String> line = new ArrayList<>(List.of(prefix + "-gcc"));
        if (prefix.startsWith("arm") && !flags.contains("-marm")) {
            line.add("-mthumb");
        }
        line.addAll(List.of(flags.split(" ", -1)));
        line.addAll(List.of("-O1", "-c", "scale.c", "-o", name + ".o"));
        run(line.toArray(String[]::new));
        return folder.resolve(name + ".o");
    }

    private void run(String... words) {
        TestPrograms.need(words[0]);
        ProcessResult result =
                ProcessRunner.run(Command.ofLine(List.of(words)).in(folder).within(Duration.ofSeconds(60)));
        assertThat(result.succeeded()).as(result.message()).isTrue();
    }
}
