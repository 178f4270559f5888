// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.elf.ElfFile;
import io.kiln.firmware.TestFirmware;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.firmware.image.ImageFiles.LoadImage;
import io.kiln.firmware.image.ImageFiles.LoadImage.Block;
import io.kiln.firmware.image.Measurement.ImageMeasurer;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImageFormatsTest {
    @TempDir
    Path folder;

    @Test
    void binaryAndHexHoldWhatObjcopyWouldTakeOutOfTheElf() throws IOException {
        Path main = folder.resolve("src/main/c/main.c");
        Files.createDirectories(main.getParent());
        Files.writeString(main, "static volatile int x[] = {5, 6, 7}; int main(void) { return x[1]++; }");
        Image image = link("stm32f405");
        assertThat(image.measurement().ram().data()).isGreaterThanOrEqualTo(12);
        assertThat(image.measurement().flash().data())
                .isEqualTo(image.measurement().ram().data());
        Path expected = folder.resolve("expected.bin");
        Path fromHex = folder.resolve("hex.bin");
        objcopy("-O", "binary", "--gap-fill", "0xff", image.elf().toString(), expected.toString());
        objcopy("-I", "ihex", "-O", "binary", "--gap-fill", "0xff", hex(image), fromHex.toString());

        assertThat(image.bin().orElseThrow()).hasSameBinaryContentAs(expected);
        assertThat(fromHex).hasSameBinaryContentAs(expected);
        assertThat(Files.readAllLines(image.hex().orElseThrow())).first().isEqualTo(":020000040800F2");
    }

    /** Blocks as Microsoft's specification lays them out; every page has its address, and what is not of the image is erased. */
    @Test
    void aBoardWithABootLoaderForUf2GetsAFileOfPages() throws IOException {
        Path main = folder.resolve("src/main/c/main.c");
        Files.createDirectories(main.getParent());
        Files.writeString(main, "static volatile int x[] = {5, 6, 7}; int main(void) { return x[1]++; }");
        Image image = link("raspberry-pi-pico");
        byte[] expected = Files.readAllBytes(image.bin().orElseThrow());
        String elf = image.elf().toString();
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(Path.of(elf.replaceFirst("[.]elf$", ".uf2"))))
                .order(ByteOrder.LITTLE_ENDIAN);
        int blocks = (expected.length + 255) / 256;
        assertThat(file.limit()).isEqualTo(blocks * 512);
        for (int i = 0; i < blocks; i++) {
            IntBuffer head = file.position(i * 512).asIntBuffer();
            assertThat(List.of(
                            head.get(),
                            head.get(),
                            head.get(),
                            head.get(),
                            head.get(),
                            head.get(),
                            head.get(),
                            head.get()))
                    .containsExactly(0x0a324655, 0x9e5d5157, 0x2000, 0x10000000 + i * 256, 256, i, blocks, 0xe48bff56);
            byte[] page = new byte[256];
            file.position(i * 512 + 32).get(page);
            byte[] wanted = Arrays.copyOfRange(expected, i * 256, Math.min(expected.length, i * 256 + 256));
            assertThat(Arrays.copyOf(page, wanted.length)).isEqualTo(wanted);
            for (int k = wanted.length; k < page.length; k++) {
                assertThat(page[k]).isEqualTo((byte) 0xff);
            }
            assertThat(file.getInt(i * 512 + 508)).isEqualTo(0x0ab16f30);
        }
        assertThat(Path.of(link("stm32f405").elf().toString().replaceFirst("[.]elf$", ".uf2")))
                .doesNotExist();
    }

    @Test
    void hexRecordsCrossNoBoundaryOfTheUpperAddressAndEndWithTheEntry() {
        LoadImage image = new LoadImage(
                List.of(
                        new Block(0x0001fffeL, Bytes.wrap(new byte[] {1, 2, 3})),
                        new Block(0x20000000L, Bytes.ofText("A"))),
                0x20000001L);

        assertThat(new String(image.intelHex(), StandardCharsets.US_ASCII)).isEqualTo("""
                        :020000040001F9
                        :02FFFE000102FE
                        :020000040002F8
                        :0100000003FC
                        :020000042000DA
                        :0100000041BE
                        :0400000520000001D6
                        :00000001FF
                        """);
        assertThat(image.binary()).isEmpty();
    }

    @Test
    void gapsInTheBinaryReadAsErasedFlash() {
        LoadImage image = new LoadImage(
                List.of(new Block(16, Bytes.wrap(new byte[] {1})), new Block(19, Bytes.wrap(new byte[] {2}))), 16);

        assertThat(image.binary()).contains(new byte[] {1, -1, -1, 2});
    }

    @Test
    void aDamagedElfIsRefusedOrReadButNothingElse() throws IOException {
        byte[] whole = Files.readAllBytes(link("mps2-an386").elf());
        Random random = new Random(7);
        Path file = folder.resolve("damaged.elf");
        for (int round = 0; round < 200; round++) {
            byte[] damaged = Arrays.copyOf(whole, 1 + random.nextInt(whole.length));
            for (int i = 0; i < 8; i++) {
                damaged[Math.min(damaged.length - 1, random.nextInt(256))] = (byte) random.nextInt();
            }
            Files.write(file, damaged);
            assertThatCode(() -> readAll(file))
                    .satisfies(thrown -> assertThat(thrown == null || thrown instanceof KilnException)
                            .as("%s", thrown)
                            .isTrue());
        }
        Files.write(file, Arrays.copyOf(whole, 60));
        assertThatThrownBy(() -> ElfFile.read(file))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("this is not a whole ELF file");
        assertThat(ElfFile.isElf(folder.resolve("absent"))).isFalse();
    }

    private static void readAll(Path file) {
        ImageMeasurer.measure(ElfFile.read(file), TestFirmware.board("mps2-an386"));
    }

    private Image link(String board) {
        return TestFirmware.build(TestFirmware.request(board, "gnu", folder), folder, Log.QUIET);
    }

    private static String hex(Image image) {
        return image.hex().orElseThrow().toString();
    }

    private static void objcopy(String... arguments) {
        Assumptions.assumeTrue(
                Executables.find("arm-none-eabi-objcopy").isPresent() || "true".equals(System.getenv("CI")),
                "there is no arm-none-eabi-objcopy");
        var result = ProcessRunner.run(Command.of("arm-none-eabi-objcopy", arguments));
        assertThat(result.succeeded()).as(result.message()).isTrue();
    }
}
