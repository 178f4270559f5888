// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.update.ModelRegion.DeviceModels;
import io.kiln.firmware.update.ModelRegion.DeviceModels.UpdateFile;
import io.kiln.firmware.update.ModelRegion.InstalledFirmware;
import io.kiln.firmware.update.ModelRegion.InstalledFirmware.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Update files as Kiln reads them, and what it would write to which device. */
class UpdateFileTest {
    private static final List<Long> SLOTS = List.of(0x08080000L, 0x080c0000L);
    private static final Bytes INTERFACE = TestRegions.INTERFACE;

    /** Behind the header; 704 bytes with it and with padding. */
    private static final int REGION_BYTES = 444;

    private static final int MUTATIONS = 2000;

    @TempDir
    private static Path folder;

    private static UpdateKey key;

    @BeforeAll
    static void readKey() {
        key = TestKeys.key(folder, 1);
    }

    private static ModelRegion region(int slot, String version) {
        return region(slot, version, "0.0.0", "board", INTERFACE).signed(key);
    }

    private static ModelRegion region(int slot, String version, String minimum, String board, Bytes digest) {
        return TestRegions.region(SLOTS.get(slot), version, minimum, board, digest, REGION_BYTES);
    }

    private static UpdateFile update(String version) {
        return new UpdateFile(List.of(region(0, version), region(1, version)));
    }

    @Test
    void whatIsWrittenIsRead() {
        UpdateFile file = update("1.2.3");
        UpdateFile read = UpdateFile.read(file.bytes(), "x.update");
        assertThat(read.bytes()).isEqualTo(file.bytes());
        ModelRegion second = read.at(SLOTS.get(1)).orElseThrow();
        assertThat(second.bytes().size()).isEqualTo(704);
        assertThat(second.version()).isEqualTo(new UpdateVersion(1, 2, 3));
        assertThat(second.minimumFirmware()).isEqualTo(new UpdateVersion(0, 0, 0));
        assertThat(second.board()).isEqualTo("board");
        assertThat(second.models()).isEqualTo("default");
        assertThat(second.isWhole()).isTrue();
        assertThat(second.isSignedBy(key.publicBytes())).isTrue();
        assertThat(second.isSignedBy(TestKeys.key(folder, 2).publicBytes())).isFalse();
        assertThat(read.at(0)).isEmpty();
    }

    /** Each file is read whole, or refused with one problem; none that differs passes for signed and whole. */
    @Test
    void damagedFilesAreRefusedOrNoLongerSigned() {
        byte[] right = update("1.0.0").bytes().toArray();
        Random random = new Random(7);
        int refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] content = mutated(right, random);
            try {
                UpdateFile file = UpdateFile.read(Bytes.wrap(content), "x.update");
                assertThat(file.bytes()).isEqualTo(Bytes.wrap(content));
                boolean isGood = file.regions().size() == 2
                        && file.regions().stream()
                                .allMatch(region -> region.isWhole() && region.isSignedBy(key.publicBytes()));
                assertThat(isGood && !Arrays.equals(content, right)).isFalse();
            } catch (KilnException e) {
                assertThat(e).hasMessageContaining("x.update: not an update: ");
                refused++;
            }
        }
        assertThat(refused).isBetween(MUTATIONS / 10, MUTATIONS - 1);
    }

    private static byte[] mutated(byte[] right, Random random) {
        byte[] content = right.clone();
        switch (random.nextInt(4)) {
            case 0 -> content = Arrays.copyOf(right, random.nextInt(right.length));
            case 1 -> content[random.nextInt(content.length)] ^= (byte) (1 << random.nextInt(8));
            case 2 -> content[704 * random.nextInt(2) + random.nextInt(48)] = (byte) random.nextInt();
            default ->
                ByteBuffer.wrap(content)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(704 * random.nextInt(2) + 16, random.nextInt());
        }
        return content;
    }

    private static DeviceModels device(ModelRegion first, ModelRegion second) {
        return device(new Memory(0x20010000, 64), first, second);
    }

    private static DeviceModels device(Memory memory, ModelRegion first, ModelRegion second) {
        InstalledFirmware firmware = new InstalledFirmware(
                SLOTS,
                1024,
                memory,
                new UpdateVersion(1, 0, 0),
                "board",
                region(0, "0").interfaceDigest(),
                key.publicBytes());
        return new DeviceModels(firmware, List.of(Optional.of(first), Optional.of(second)));
    }

    @Test
    void theNewestGoodRegionRunsAndTheOtherSlotIsFree() {
        assertThat(device(region(0, "1.0.0"), region(1, "1.1.0")).running()).contains(1);
        assertThat(device(region(0, "1.0.0"), region(1, "1.1.0")).free()).isZero();
        assertThat(device(region(0, "200.0.0"), region(1, "1.1.0")).running()).contains(0);
        assertThat(device(region(0, "1.0.0"), region(1, "1.0.0")).running()).contains(0);
        ModelRegion strange = region(1, "1.1.0").signed(TestKeys.key(folder, 2));
        assertThat(device(region(0, "1.0.0"), strange).free()).isEqualTo(1);
        assertThat(device(region(1, "1.0.0"), strange).running()).isEmpty();
        assertThat(device(region(1, "1.0.0"), strange).free()).isZero();
    }

    /** What lies behind the name's end is no part of it. */
    @Test
    void aFirmwareStatesItself() {
        ByteBuffer bytes = ByteBuffer.allocate(InstalledFirmware.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(InstalledFirmware.MAGIC.toArray()).putInt(0x08080000).putInt(0x080c0000);
        bytes.putInt(1024).putInt(0x20010000).putInt(256);
        bytes.putInt(1 << 24).put("board\0\nx".getBytes(StandardCharsets.US_ASCII));
        assertThat(InstalledFirmware.read(Bytes.wrap(bytes.array()))).hasValueSatisfying(firmware -> {
            assertThat(firmware.board()).isEqualTo("board");
            assertThat(firmware.memory()).isEqualTo(new Memory(0x20010000, 256));
            assertThat(firmware.slots()).isEqualTo(SLOTS);
        });
        bytes.put(0, (byte) 'k');
        assertThat(InstalledFirmware.read(Bytes.wrap(bytes.array()))).isEmpty();
    }

    @Test
    void anUpdateThatDoesNotSuitTheDeviceIsRefusedWithTheReason() {
        DeviceModels device = device(region(0, "1.1.0"), region(1, "1.0.0"));
        assertThat(device.refusal(update("1.2.0"))).isEmpty();
        assertThat(device.runs(update("1.1.0"))).isTrue();
        assertThat(device.runs(update("1.0.0"))).isFalse();
        assertThat(device.refusal(update("1.1.0"))).contains("its models have version 1.1.0, and version 1.1.0 runs");
        assertThat(device.refusal(new UpdateFile(List.of(region(0, "1.2.0")))))
                .contains("it has no models for the slot at 0x080c0000");
        refuses(device, region(1, "2", "0", "bread", INTERFACE), "it is for the board bread, not board");
        refuses(
                device,
                region(1, "2", "1.0.1", "board", INTERFACE),
                "it needs firmware 1.0.1, and the device has 1.0.0");
        refuses(
                device,
                region(1, "2", "0", "board", Bytes.ofText("fifteen and one.")),
                "its models (default) have other names, tensors or scales than those that the firmware calls");
        assertThat(device.refusal(new UpdateFile(List.of(region(1, "2").signed(TestKeys.key(folder, 2))))))
                .contains("it is not signed with the key of the firmware");
        byte[] damaged = region(1, "2").bytes().toArray();
        damaged[500] ^= 1;
        assertThat(device.refusal(new UpdateFile(List.of(ModelRegion.read(ByteBuffer.wrap(damaged), "x")))))
                .contains("its content is damaged");
    }

    /** As in kiln_slots.c: such models do not run, so their slot is free. */
    @Test
    void modelsThatNeedOtherMemoryDoNotRun() {
        for (Memory other : List.of(
                new Memory(0x20010000, 63), new Memory(0x20010001, 64), new Memory(0x20000000, 64), new Memory(0, 0))) {
            DeviceModels device = device(other, region(0, "1.0.0"), region(1, "1.1.0"));
            assertThat(device.running()).as(other.toString()).isEmpty();
            assertThat(device.refusal(update("1.2.0")))
                    .contains("its models use other memory than the firmware leaves to them");
        }
        assertThat(device(new Memory(0x20000000, 0x20000), region(0, "1.0.0"), region(1, "1.1.0"))
                        .running())
                .contains(1);
        byte[] far = region(1, "2").bytes().toArray();
        far[45] = 4; // The table of functions lies behind the region.
        assertThat(device(
                                region(0, "1.0.0"),
                                ModelRegion.read(ByteBuffer.wrap(far), "x").signed(key))
                        .running())
                .contains(0);
    }

    private static void refuses(DeviceModels device, ModelRegion region, String why) {
        assertThat(device.refusal(new UpdateFile(List.of(region.signed(key))))).contains(why);
    }

    @Test
    void versionsAreThoseThatDevicesCompare() {
        assertThat(UpdateVersion.parse("1.4.7-SNAPSHOT", "v")).hasToString("1.4.7");
        assertThat(UpdateVersion.parse(" 3 ", "v").number()).isEqualTo(3 << 24);
        assertThat(UpdateVersion.parse("255.255.65535", "v").number()).isEqualTo(-1);
        assertThat(UpdateVersion.parse("200.0", "v").isAbove(new UpdateVersion(100, 255, 0)))
                .isTrue();
        assertThat(UpdateVersion.ofNumber(-2)).hasToString("255.255.65534");
        for (String text : List.of("", "v1", "256.0.0", "1.256", "1.0.65536", "1.2.3.4", "1..2", "123456")) {
            assertThatThrownBy(() -> UpdateVersion.parse(text, "kiln.modelVersion"))
                    .hasMessageContaining("kiln.modelVersion: not a version that devices can compare: '" + text + "'");
        }
    }

    @Test
    void aKeyThatOthersMayUseIsRefusedWithTheCommandThatMendsIt() {
        Path file = TestKeys.write(folder.resolve("a b"), 1);
        for (String open : List.of("rw-r-----", "rw----r--", "rw-rw-rw-", "rw----r--", "rwx--x---", "rw-----w-")) {
            TestKeys.permit(file, open);
            assertThatThrownBy(() -> UpdateKey.read(file))
                    .isInstanceOf(KilnException.class)
                    .hasMessage(file + ": others may use the key that signs updates: its permissions are " + open
                            + "; expected a private key that only its owner may read, rw-------. chmod 600 '" + file
                            + "'.");
        }
        for (String own : List.of("rw-------", "r--------")) {
            TestKeys.permit(file, own);
            assertThat(UpdateKey.read(file).publicBytes().size()).isEqualTo(UpdateKey.PUBLIC_BYTES);
        }
    }

    @Test
    void onlyAnEd25519KeyIsRead() {
        String other = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEH\n-----END PRIVATE KEY-----\n";
        for (String text : List.of("", "secret", other, "-----BEGIN ENCRYPTED PRIVATE KEY-----", "x".repeat(20_000))) {
            Path file = folder.resolve("other.pem");
            WholeFiles.write(file, text);
            assertThatThrownBy(() -> UpdateKey.read(file))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("not a key that signs updates: ")
                    .hasMessageNotContaining("MIGH");
        }
        Path der = folder.resolve("key.der");
        WholeFiles.write(der, new byte[] {0x30, 0x2e, 0x02, (byte) 0xff, (byte) 0xc3});
        assertThatThrownBy(() -> UpdateKey.read(der)).hasMessageContaining("it has no block PRIVATE KEY");
        assertThatThrownBy(() -> UpdateKey.read(folder.resolve("none.pem"))).hasMessageContaining("none.pem");
    }
}
