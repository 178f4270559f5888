// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.device.probe.Stm32f405.Ram;
import io.kiln.device.probe.Stm32f405.SystemBus;
import io.kiln.device.probe.VirtualProbe.VirtualChip.FlashContent;
import io.kiln.device.probe.thumb.Registers;
import io.kiln.firmware.image.ImageFiles.LoadImage;
import io.kiln.firmware.update.TestKeys;
import io.kiln.firmware.update.TestRegions;
import io.kiln.firmware.update.UpdateKey;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code that updates models and the driver of the flash, executed by the virtual chip; power is lost at seeded bytes of its flash. */
class UpdateOnChipTest {
    private static final List<Long> SLOTS = List.of(0x08080000L, 0x080c0000L);
    private static final int RAM = 0x20000000;
    private static final int RAM_BYTES = 128 << 10;
    private static final int FILE = RAM + (64 << 10);
    private static final int REGION_BYTES = 1216;
    private static final int CUTS = 1;
    private static final int OK = 0;

    @TempDir
    Path folder;

    private final byte[] flash = FlashContent.erased().bytes().toArray();
    private LoadImage program;
    private UpdateKey key;

    @BeforeEach
    void compile() throws IOException {
        key = TestKeys.key(folder, 1);
        ResourceTree.read("update")
                .forEach((name, content) -> WholeFiles.write(folder.resolve(name), content.toArray()));
        ResourceTree.read("shims")
                .forEach((name, content) -> WholeFiles.write(folder.resolve(name), content.toArray()));
        for (Path file :
                List.of(Path.of("src/test/c/virtual_update.c"), Path.of("toolchains/boards/stm32f405/kiln_flash.h"))) {
            Files.copy(file, folder.resolve(file.getFileName()));
        }
        WholeFiles.write(
                folder.resolve("settings.c"),
                String.format(Locale.ROOT, """
                    #include "kiln_slots.h"
                    const struct kiln_slots kiln_slots = {
                        .address = {0x08080000u, 0x080c0000u}, .bytes = 0x40000u, .memory = 0x20010000u, .memory_bytes = 0x10000u,
                        .firmware = 0x01000000u, .board = "board", .interface = {%s}, .key = {%s}};
                    """, list(TestRegions.INTERFACE), list(key.publicBytes())));
        Toolchain clang = TestToolchains.resolve("clang", "c -mcpu=cortex-m3");
        List<String> line =
                new ArrayList<>(List.of(clang.compiler(), "--target=thumbv7m-none-eabi", "-mcpu=cortex-m3"));
        line.addAll(List.of(
                "-mfloat-abi=soft",
                "-std=c11",
                "-Os",
                "-ffreestanding",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-I.",
                "-Iinclude"));
        line.addAll(List.of(
                "-nostdlib", "-static", "-fuse-ld=lld", "-Wl,-e,start", "-Wl,-Ttext=0x20000000", "-Wl,--omagic"));
        line.addAll(List.of("-Wl,--gc-sections", "-ffunction-sections", "-o", "program.elf", "virtual_update.c"));
        line.addAll(List.of(
                "settings.c", "kiln_update.c", "kiln_slots.c", "kiln_ed25519.c", "kiln_field25519.c", "kiln_sha512.c"));
        line.addAll(List.of("src/kiln_memory.c", "src/kiln_functions.c", "src/kiln_integer.c"));
        ProcessResult result = ProcessRunner.run(Command.ofLine(line).in(folder));
        assertThat(result.succeeded()).as(result.message()).isTrue();
        program = LoadImage.of(ElfFile.read(folder.resolve("program.elf")));
    }

    private static String list(Bytes bytes) {
        return IntStream.range(0, bytes.size())
                .mapToObj(i -> Integer.toString(bytes.get(i) & 0xff))
                .collect(Collectors.joining(", "));
    }

    /** Calls the program on a chip that was just switched on; its answer, in the end. */
    private int run(Faults faults, Bytes file) {
        FlashCells cells = new FlashCells(flash, faults);
        FlashController controller = new FlashController(cells, faults);
        Ram ram = new Ram(RAM, RAM_BYTES);
        SystemBus bus = new SystemBus(ram);
        Core core = new Core(bus, ram);
        bus.attach(controller);
        bus.attach(new FlashArray(FlashArray.BASE, cells, controller));
        program.blocks().forEach(block -> store(bus, (int) block.address(), block.content()));
        store(bus, FILE, file);
        core.setControl(Core.DEBUG_ENABLE | Core.HALT);
        core.registers().set(Registers.PC, (int) program.entry() & ~1);
        core.registers().set(Registers.SP, RAM + RAM_BYTES);
        core.registers().set(0, FILE);
        core.registers().set(1, file.size());
        core.setControl(Core.DEBUG_ENABLE);
        core.run(200_000_000);
        assertThat(core.halted())
                .as("at 0x%08x", core.registers().get(Registers.PC))
                .isTrue();
        assertThat(core.events() & Core.EVENT_BREAKPOINT).isNotZero();
        return core.registers().get(0);
    }

    private static void store(SystemBus bus, int address, Bytes content) {
        for (int i = 0; i < content.size(); i++) {
            bus.write(address + i, 1, content.get(i) & 0xff);
        }
    }

    private int running() {
        return run(Faults.none(), Bytes.copyOf(new byte[0])) >>> 16;
    }

    @Test
    void theRegionThatRunsStaysUntilTheNextOneIsWhole() {
        Bytes first = TestRegions.update(key, "1.0", SLOTS, REGION_BYTES - 256).bytes();
        assertThat(run(Faults.none(), first)).isEqualTo(OK);
        Bytes next = TestRegions.update(key, "1.1", SLOTS, REGION_BYTES - 256).bytes();
        Random random = new Random(1);
        for (int i = 0; i < CUTS; i++) {
            int bytes = 1 + random.nextInt(REGION_BYTES - 1);
            assertThat(run(Faults.of(new Fault.PowerLost(bytes)), next)).isNotEqualTo(OK);
            assertThat(running()).as("after " + bytes + " bytes").isEqualTo(0x100);
        }
        assertThat(run(Faults.none(), next)).isEqualTo(OK);
        assertThat(running()).isEqualTo(0x101);
    }
}
