// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.KeptLog;
import io.kiln.base.elf.ElfFile;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.docs.DocBlock;
import io.kiln.firmware.image.ImageFiles.LoadImage;
import io.kiln.firmware.image.ImageFiles.LoadImage.Block;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The boards of at most six lines on the page about boards: each is built with a model and flashed. Their packs are made up. */
final class BoardsOfSixLinesTest {
    private static final int MOST_LINES = 6;
    private static final int BLOCK = 512;
    private static final int PAGE = 256;
    private static final int DATA = 32;
    private static final String INFO = "INFO_UF2.TXT";

    /** Where the boot ROM of an RP2350 looks, and what it has to find: the RP2350 Datasheet, 5.9.5.1. */
    private static final int LOOKED_AT = 4096;

    private static final List<Integer> IMAGE_DEFINITION =
            List.of(0xffffded3, 0x10210142, 0x000001ff, 0x00000000, 0xab123579);

    private static final String RP2350 = """
        <family Dfamily="RP2350" Dvendor="RPi:170"><device Dname="RP2350">
        <processor Dcore="Cortex-M33" Dfpu="SP_FPU" Dmpu="MPU" Dtz="TZ" Ddsp="DSP" Dclock="150000000"/>
        <memory name="External_Flash" access="rx" start="0x10000000" size="0x400000" default="1" startup="1"/>
        <memory name="SRAM" access="rwx" start="0x20000000" size="0x82000" default="1"/>
        </device></family>
        """;

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @Test
    void anF411IsFlashedThroughTheVirtualProbe() throws IOException {
        TestOpenOcd.get();
        pack("Keil.STM32F4xx_DFP.3.1.1.pack", """
            <family Dfamily="STM32F4" Dvendor="STMicroelectronics:13">
            <processor Dcore="Cortex-M4" Dfpu="1" Dmpu="1" Dendian="Little-endian" Dclock="100000000"/>
            <device Dname="STM32F411CE">
            <memory name="Flash" access="rx" start="0x08000000" size="0x80000" default="1" startup="1"/>
            <memory name="SRAM" access="rwx" start="0x20000000" size="0x20000" default="1"/>
            <variant Dvariant="STM32F411CEUx"/></device></family>
            """);
        board("our-f411", onThePage("our-f411") + "flash: {openocd: {virtual: true, target: target/stm32f4x.cfg}}\n");
        LoadImage image = flashed("our-f411", Optional.empty());
        assertThat(log.said()).anyMatch(line -> line.matches("virtual: flashed and verified [0-9]+ bytes in .*"));
        startsAt(image, 0x08000000L, 0x20020000L);
        byte[] held = Files.readAllBytes(folder.resolve("out/kiln/virtual/virtual.bin"));
        assertThat(image.blocks()).allSatisfy(block -> {
            int from = Math.toIntExact(block.address() - 0x08000000L);
            assertThat(Arrays.copyOfRange(held, from, from + block.content().size()))
                    .isEqualTo(block.content().toArray());
        });
    }

    @Test
    void anNrf52840KeepsItsBootLoader() throws IOException {
        pack("NordicSemiconductor.nRF_DeviceFamilyPack.8.59.0.pack", """
            <family Dfamily="nRF52" Dvendor="Nordic Semiconductor:54"><device Dname="nRF52840_xxAA">
            <processor Dcore="Cortex-M4" Dfpu="SP_FPU" Dmpu="MPU" Dendian="Little-endian" Dclock="64000000"/>
            <memory name="Flash" access="rx" start="0x0" size="0x100000" default="1" startup="1"/>
            <memory name="SRAM" access="rwx" start="0x20000000" size="0x40000" default="1"/>
            </device></family>
            """);
        board("our-nrf52840", onThePage("our-nrf52840"));
        startsAt(copied("our-nrf52840", "nRF52840-Feather-revD", 0xada52840), 0x26000L, 0x20040000L);
    }

    @Test
    void anRp2350HasWhatItsBootRomLooksFor() throws IOException {
        board("our-rp2350", onThePage("our-rp2350"));
        isDefined(copied("our-rp2350", "RP2350", 0xe48bff59));
        answersOnTheStandIn("our-rp2350");
        pack("RP.pack", RP2350);
        board("of-pack", "schema: 1\nid: of-pack\ntitle: Ours\ndevice: {pack: ../../packs/RP.pack, name: RP2350}\n");
        isDefined(copied("of-pack", "RP2350", 0xe48bff59));
    }

    private void answersOnTheStandIn(String board) throws IOException {
        TestPrograms.need("qemu-system-arm");
        GestureProject project = new GestureProject(folder);
        VerifySpec one = new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 1, 0);
        flow.build(project.spec(board).verify(one).build(), DeviceSpec.USUAL);
        assertThat(project.text("kiln/verify.json")).contains("\"bitExact\" : true");
    }

    private static void isDefined(LoadImage image) {
        startsAt(image, 0x10000000L, 0x20082000L);
        ByteBuffer first = image.blocks().get(0).content().buffer().order(ByteOrder.LITTLE_ENDIAN);
        assertThat(IntStream.range(0, Math.min(LOOKED_AT, first.capacity()) / Integer.BYTES)
                        .mapToObj(word -> first.getInt(word * Integer.BYTES))
                        .toList())
                .containsSequence(IMAGE_DEFINITION);
    }

    /** The image begins with a vector table: the stack's top in RAM, and the reset handler behind the table. */
    private static void startsAt(LoadImage image, long address, long endOfRam) {
        Block first = image.blocks().get(0);
        assertThat(first.address()).isEqualTo(address);
        ByteBuffer words = first.content().buffer().order(ByteOrder.LITTLE_ENDIAN);
        assertThat(Integer.toUnsignedLong(words.getInt(0)))
                .isGreaterThan(0x20000000L)
                .isLessThanOrEqualTo(endOfRam);
        assertThat(words.getInt(Integer.BYTES) & 1).isEqualTo(1);
        assertThat(image.entry() | 1).isEqualTo(Integer.toUnsignedLong(words.getInt(Integer.BYTES)));
        assertThat(image.entry()).isGreaterThan(address + 16 * Integer.BYTES);
    }

    /** Flashes by a copy to a folder in place of the boot loader's drive, and compares what the boot loader got with the image. */
    private LoadImage copied(String board, String boardId, int family) throws IOException {
        Path drive = Files.createDirectories(folder.resolve("drive-" + board));
        Files.writeString(drive.resolve(INFO), "UF2 Bootloader\r\nModel: X\r\nBoard-ID: " + boardId + "\r\n");
        CompletableFuture<SortedMap<Long, byte[]>> loader = CompletableFuture.supplyAsync(() -> taken(drive, family));
        LoadImage image;
        try {
            image = flashed(board, Optional.of(drive.toString()));
        } finally {
            Files.deleteIfExists(drive.resolve(INFO));
        }
        SortedMap<Long, byte[]> pages = loader.join();
        image.blocks().forEach(block -> {
            byte[] content = block.content().toArray();
            for (int i = 0; i < content.length; i++) {
                int at = (int) ((block.address() + i) % PAGE);
                byte[] page = pages.get(block.address() + i - at);
                assertThat(page).isNotNull();
                if (page[at] != content[i]) {
                    throw new AssertionError("another byte at " + Long.toHexString(block.address() + i));
                }
                page[at] = (byte) 0xff;
            }
        });
        assertThat(pages.values()).allSatisfy(page -> assertThat(page).containsOnly(0xff));
        return image;
    }

    /** As a boot loader: takes the blocks of its family until it has all, then its drive vanishes. */
    private static SortedMap<Long, byte[]> taken(Path drive, int family) {
        try {
            Path file = drive.resolve("kiln.uf2");
            while (!isWhole(file)) {
                if (Files.notExists(drive.resolve(INFO))) {
                    throw new IllegalStateException("nothing came");
                }
                Thread.sleep(5);
            }
            SortedMap<Long, byte[]> pages = new TreeMap<>();
            byte[] content = Files.readAllBytes(file);
            for (int from = 0; from < content.length; from += BLOCK) {
                ByteBuffer block = ByteBuffer.wrap(content, from, BLOCK).slice().order(ByteOrder.LITTLE_ENDIAN);
                assertThat(List.of(block.getInt(0), block.getInt(4), block.getInt(8), block.getInt(BLOCK - 4)))
                        .containsExactly(0x0a324655, 0x9e5d5157, 0x2000, 0x0ab16f30);
                assertThat(List.of(block.getInt(16), block.getInt(20), block.getInt(24), block.getInt(28)))
                        .containsExactly(PAGE, from / BLOCK, content.length / BLOCK, family);
                byte[] page = new byte[PAGE];
                block.get(DATA, page);
                assertThat(pages.put(Integer.toUnsignedLong(block.getInt(12)), page))
                        .isNull();
            }
            Files.delete(drive.resolve(INFO));
            return pages;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isWhole(Path file) throws IOException {
        if (!Files.exists(file) || Files.size(file) < BLOCK) {
            return false;
        }
        ByteBuffer block = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        return block.capacity() == block.getInt(24) * BLOCK;
    }

    private LoadImage flashed(String board, Optional<String> probe) {
        FlashSpec usual = FlashSpec.USUAL;
        flow.buildAndFlash(
                new GestureProject(folder)
                        .spec(board)
                        .verify(GestureProject.UNVERIFIED)
                        .build(),
                new FlashSpec(probe, usual.tool(), usual.content(), usual.journal(), usual.faults(), false, false));
        return LoadImage.of(ElfFile.read(folder.resolve("out/gesture.elf")));
    }

    private void board(String id, String text) throws IOException {
        assertThat(text.lines().count()).isLessThanOrEqualTo(MOST_LINES);
        Path place = Files.createDirectories(folder.resolve("src/main/boards").resolve(id));
        Files.writeString(place.resolve("board.yaml"), text);
    }

    private static String onThePage(String id) {
        return DocBlock.of("yaml").stream()
                .filter(block ->
                        block.page().equals("boards.md") && block.text().contains("id: " + id + "\n"))
                .map(DocBlock::text)
                .findFirst()
                .orElseThrow();
    }

    /** A pack of one family, where the boards of the page expect it. */
    private void pack(String name, String family) throws IOException {
        Path file = Files.createDirectories(folder.resolve("src/main/packs")).resolve(name);
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.putNextEntry(new ZipEntry("Kiln.MadeUp_DFP.pdsc"));
            String text =
                    "<package><vendor>Kiln</vendor><name>MadeUp_DFP</name><devices>" + family + "</devices></package>";
            zip.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }
}
