// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.kiln.base.Bytes;
import io.kiln.base.CrowdedZip;
import io.kiln.base.KilnException;
import io.kiln.fuzz.ReaderProperty;
import io.kiln.toolchain.pack.Device.Vectors.SvdReader;
import io.kiln.toolchain.pack.PackReader.Property;
import io.kiln.toolchain.pack.Packs.DeviceBoard;
import io.kiln.toolchain.pack.Packs.PackSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Consumer;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Packs that no vendor makes: each is refused by one message, and none takes long. */
class HostilePacksTest {
    private static final Path MADE_UP = Path.of("src/test/resources/packs/made-up");
    private static final long SEED = 20_261_130;
    private static final int CASES = 150;
    private static final String HEAD = "<package><vendor>V</vendor><name>N</name><devices><family Dfamily=\"F\">";
    private static final String TAIL = "</family></devices></package>";

    @TempDir
    private Path folder;

    @Test
    void cutAndMutatedDescriptionsAreReadOrRefused() throws IOException {
        byte[] whole = Files.readAllBytes(MADE_UP.resolve("Kiln.MadeUp_DFP.pdsc"));
        int read = mutate(whole, bytes -> {
            Packs packs = packs(bytes);
            packs.list("");
            // The tables of sectors and interrupts are read, too.
            for (String device : new String[] {"PLN446RETx", "PLN405"}) {
                DeviceBoard.of(packs, new DeviceBoard.Request(device, 0, OptionalLong.empty(), true), "a");
            }
        });
        assertThat(read).isBetween(1, CASES - 1);
    }

    @Test
    void cutAndMutatedInterruptsAndSectorsAreReadOrRefused() throws IOException {
        byte[] svd = Files.readAllBytes(MADE_UP.resolve("SVD/plain.svd"));
        assertThat(mutate(svd, bytes -> SvdReader.interrupts("a.svd", Bytes.wrap(bytes))))
                .isBetween(1, CASES - 1);
        byte[] flm = Files.readAllBytes(MADE_UP.resolve("Flash/plain_512.FLM"));
        assertThat(FlashLayout.ofAlgorithm("a.FLM", Bytes.copyOf(flm)).map(FlashLayout::text))
                .hasValue("4 × 16K, 1 × 64K, 3 × 128K");
        assertThat(mutate(flm, bytes -> FlashLayout.ofAlgorithm("a.FLM", Bytes.wrap(bytes))))
                .isEqualTo(CASES);
    }

    /** Reads as many files that are cut or have some other bytes; returns how many were read. */
    private static int mutate(byte[] whole, Consumer<byte[]> reader) {
        Random random = new Random(SEED);
        int read = 0;
        for (int i = 0; i < CASES; i++) {
            byte[] bytes = i % 3 == 0 ? Arrays.copyOf(whole, random.nextInt(whole.length)) : whole.clone();
            for (int change = random.nextInt(4); i % 3 != 0 && change >= 0; change--) {
                bytes[random.nextInt(bytes.length)] =
                        (byte) (i % 3 == 1 ? random.nextInt(256) : '0' + random.nextInt(10));
            }
            read += ReaderProperty.holds(() -> reader.accept(bytes)) ? 1 : 0;
        }
        return read;
    }

    @Test
    void aMillionDevicesAreRefused() {
        assertThat(refusal(HEAD + "<device Dname='D'/>".repeat(1_000_000) + TAIL))
                .contains("a.pdsc:1", "the pack has too many devices", "at most 20000");
        String memory = "<memory name='M' start='0' size='0x10000'/>";
        assertThat(refusal(HEAD + "<device Dname='D'>" + memory.repeat(100_100) + "</device>" + TAIL))
                .contains("the pack says too much of its devices");
    }

    /** Each device has all of it, and its memories are compared with each other. */
    @Test
    void whatIsSaidOfOneDeviceIsLimitedWithAllThatItInherits() {
        String memory = "<memory name='M' start='0' size='0x10000'/>";
        assertThat(refusal(HEAD + "<device Dname='D'/>" + memory.repeat(501) + TAIL))
                .contains("the pack says too much of D", "at most 500");
    }

    @Test
    void manyNamesOfOneInterruptAreReadSoon() {
        StringBuilder names = new StringBuilder("<device>");
        for (int i = 0; i < 200_000; i++) {
            names.append("<interrupt><name>A").append(i).append("</name><value>1</value></interrupt>");
        }
        Bytes svd = Bytes.ofText(names + "</device>");
        assertThat(ReaderProperty.holds(() -> SvdReader.interrupts("a.svd", svd)))
                .isTrue();
    }

    @Test
    void sectorsBeyondAllNumbersAreNoLayout() {
        Property block = new Property("block", Map.of("size", "0xf0f0f0f0f0f0f10", "count", "17"), List.of(), "");
        assertThat(FlashLayout.ofInfo(new Property("flashinfo", Map.of("start", "0"), List.of(block), "")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"..:a:1", "a:..:1", "a:b:..", ".:.:.", "a:b:.1"})
    void coordinatesLeadOutOfNoRepository(String pack) {
        assertThat(PackSource.areCoordinates("com.acme:_pack:1.0-a")).isTrue();
        assertThat(PackSource.areCoordinates(pack)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<!DOCTYPE package [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]><package><name>&b;</name></package>",
                "<!DOCTYPE package [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><package><name>&a;</name></package>",
                "<!DOCTYPE package SYSTEM 'file:///etc/passwd'><package><name>a</name></package>",
                "<!DOCTYPE package [<!ENTITY % a SYSTEM 'http://127.0.0.1:1/a'> %a;]><package/>"
            })
    void entitiesAreRefused(String text) {
        assertThat(refusal("<?xml version=\"1.0\"?>\n" + text))
                .contains("a.pdsc:2")
                .containsAnyOf("document type", "not XML");
    }

    @Test
    void whatIsNoPackIsRefusedWithItsLine() {
        assertThat(refusal("")).contains("a.pdsc:1", "this is not XML");
        assertThat(refusal("<package><name>N</name>\n<devices>")).contains("a.pdsc:2", "this is not XML");
        assertThat(refusal("<html/>")).contains("the file begins with the element html");
        assertThat(refusal("<package/>")).contains("this describes no pack");
        StringBuilder attributes = new StringBuilder("<device");
        for (int i = 0; i < 300_000; i++) {
            attributes.append(" a").append(i).append("=''");
        }
        assertThat(refusal(HEAD + attributes + "/>" + TAIL)).containsAnyOf("too many attributes", "not XML");
        assertThat(refusal(HEAD + "\n<device/>" + TAIL)).contains("a.pdsc:2", "the device has no name");
        assertThat(refusal("<a>".repeat(100_000))).contains("begins with the element a");
        assertThat(refusal("<package>" + "<a>".repeat(100_000))).contains("the elements are too deep", "at most 64");
        assertThat(refusal(HEAD + "<device Dname='" + "D".repeat(5_000) + "'/>" + TAIL))
                .contains("the attribute is too long");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "<name>A</name> | the interrupt A has no number",
                "<value>1</value> | an interrupt has no name",
                "<name>A</name><value>one</value> | the interrupt A has the number one",
                "<name>A</name><value>-1</value> | the interrupt A has the number -1",
                "<name>A</name><value>496</value> | the interrupt A has the number 496",
                "<name>A</name><value>0xFFFFFFFF</value> | the interrupt A has the number 0xFFFFFFFF"
            })
    void interruptsWithoutNamesOrNumbersAreRefused(String interrupt, String message) {
        Throwable thrown = catchThrowable(() -> SvdReader.interrupts(
                "a.svd",
                Bytes.ofText("<device>\n<peripheral><interrupt>" + interrupt + "</interrupt></peripheral></device>")));
        assertThat(thrown)
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("a.svd:2")
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"../a.svd", "/a.svd", "SVD/../../a.svd", "C:/a.svd", "..\\a.svd", "a//b"})
    void namesThatLeadOutOfAPackAreRefused(String name) throws IOException {
        Path pack = zip(Map.of("a.pdsc", HEAD + TAIL, name, "x"));
        assertThat(refusal(pack)).contains("the name is not that of a file of a CMSIS-Pack");
    }

    @Test
    void zipsThatAreNoPacksAreRefused() throws IOException {
        assertThat(refusal(zip(Map.of("doc/a.pdsc", HEAD + TAIL)))).contains("the pack has no description");
        assertThat(refusal(zip(Map.of("a.pdsc", HEAD + TAIL, "b.pdsc", HEAD + TAIL))))
                .contains("several descriptions: [a.pdsc, b.pdsc]");
        assertThat(refusal(Files.write(folder.resolve("crowded.pack"), CrowdedZip.of(250_000, "a/x"))))
                .contains("the archive has too many entries");
        assertThat(refusal(Files.writeString(folder.resolve("text.pack"), "no zip")))
                .contains("this is not a zip of a CMSIS-Pack");
        assertThat(refusal(folder.resolve("none.pack"))).contains("there is no such pack");
        assertThat(refusal(Files.createDirectory(folder.resolve("empty"))))
                .contains("there is no CMSIS-Pack in the folder");
        assertThat(refusal(zip(Map.of("a.pdsc", HEAD + " ".repeat(40 << 20) + TAIL))))
                .contains("the archive's content is too large");
        Path linked = folder.resolve("linked.pack");
        try (ZipArchiveOutputStream out = new ZipArchiveOutputStream(linked)) {
            ZipArchiveEntry entry = new ZipArchiveEntry("a.pdsc");
            entry.setUnixMode(0120777);
            out.putArchiveEntry(entry);
            out.write("/etc/passwd".getBytes(StandardCharsets.UTF_8));
            out.closeArchiveEntry();
        }
        assertThat(refusal(linked)).contains("the entry is a link");
    }

    @Test
    void aPackIsReadWhateverItsSeparatorsAndCases() throws IOException {
        Path pack = zip(Map.of(
                "Kiln.MadeUp_DFP.pdsc", Files.readString(MADE_UP.resolve("Kiln.MadeUp_DFP.pdsc")),
                "svd\\PLAIN.svd", Files.readString(MADE_UP.resolve("SVD/plain.svd")),
                "Docs/a user's guide (1).txt", "x"));
        DeviceBoard board = DeviceBoard.of(
                Packs.open(pack), new DeviceBoard.Request("PLN446RETx", 0, OptionalLong.empty(), true), "a");
        assertThat(board.files()).containsKey(DeviceBoard.SVD).containsKey("interrupts.txt");
        assertThat(board.questions()).anyMatch(question -> question.startsWith("Sectors of the flash: unknown"));
    }

    @Test
    void linksThatLeadOutOfAnUnpackedPackAreRefused() throws IOException {
        Path unpacked = Files.createDirectory(folder.resolve("unpacked"));
        Files.copy(MADE_UP.resolve("Kiln.MadeUp_DFP.pdsc"), unpacked.resolve("a.pdsc"));
        Path secret = Files.writeString(folder.resolve("secret"), "x");
        Files.createSymbolicLink(Files.createDirectory(unpacked.resolve("SVD")).resolve("plain.svd"), secret);
        assertThat(catchThrowable(() -> DeviceBoard.of(
                        Packs.open(unpacked),
                        new DeviceBoard.Request("PLN446RETx", 0, OptionalLong.empty(), true),
                        "a")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the link leads out of the pack");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "\n"})
    void sourcesOfAnySizeAreReadSoon(String text) throws IOException {
        Packs packs = packs(Files.readAllBytes(MADE_UP.resolve("Kiln.MadeUp_DFP.pdsc")));
        byte[] many = text.repeat((8 << 20) / text.length()).getBytes(StandardCharsets.UTF_8);
        Files.write(folder.resolve("mutated/Include/pln405.h"), many);
        Files.write(folder.resolve("mutated/startup_pln405.s"), many);
        assertThat(ReaderProperty.holds(() ->
                        DeviceBoard.of(packs, new DeviceBoard.Request("PLN405", 0, OptionalLong.empty(), true), "a")))
                .isTrue();
    }

    private Packs packs(byte[] description) {
        try {
            // Beside the files of the pack, which the description names.
            Path unpacked = folder.resolve("mutated");
            if (!Files.exists(unpacked)) {
                for (String name : new String[] {"SVD/plain.svd", "Flash/plain_512.FLM", "Include/pln405.h"}) {
                    Files.createDirectories(unpacked.resolve(name).getParent());
                    Files.copy(MADE_UP.resolve(name), unpacked.resolve(name));
                }
            }
            return Packs.open(Files.write(unpacked.resolve("a.pdsc"), description));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String refusal(String description) {
        try {
            return refusal(Files.writeString(folder.resolve("a.pdsc"), description));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String refusal(Path pack) {
        assertThat(ReaderProperty.holds(() -> Packs.open(pack))).isFalse();
        Throwable thrown = catchThrowable(() -> Packs.open(pack));
        assertThat(((KilnException) thrown).problems()).hasSize(1);
        return thrown.getMessage();
    }

    private Path zip(Map<String, String> files) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipArchiveOutputStream out = new ZipArchiveOutputStream(bytes)) {
            for (Map.Entry<String, String> file : files.entrySet()) {
                out.putArchiveEntry(new ZipArchiveEntry(file.getKey()));
                out.write(file.getValue().getBytes(StandardCharsets.UTF_8));
                out.closeArchiveEntry();
            }
        }
        return Files.write(folder.resolve("a.pack"), bytes.toByteArray());
    }
}
