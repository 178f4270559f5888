// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.firmware.update.ModelRegion.InstalledFirmware.Memory;
import io.kiln.toolchain.board.ModelSlots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The code and constants of all models of a firmware, linked for one slot of the flash, behind a header: {@code struct kiln_region} in
 * {@code kiln_region.h}.
 */
public final class ModelRegion {
    public static final int HEADER_BYTES = 256;

    /** The length of a region is a multiple of it. */
    public static final int ALIGNMENT = ModelSlots.ALIGNMENT;

    static final Bytes MAGIC = Bytes.ofText("KILNREGN");
    static final int FORMAT = 1;
    static final int NAME_BYTES = 32;
    private static final int INTERFACE_BYTES = 16;
    private static final int DIGEST_BYTES = 32;
    private static final int SIGNATURE_BYTES = 64;

    private static final int FORMAT_AT = 8;
    private static final int ADDRESS_AT = 12;
    private static final int LENGTH_AT = 16;
    private static final int VERSION_AT = 20;
    private static final int MINIMUM_FIRMWARE_AT = 24;
    private static final int MEMORY_AT = 28;
    private static final int ZEROED_AT = 36;
    private static final int FUNCTIONS_AT = 44;
    private static final int BOARD_AT = 48;
    private static final int MODELS_AT = BOARD_AT + NAME_BYTES;
    private static final int INTERFACE_AT = MODELS_AT + NAME_BYTES;
    private static final int DIGEST_AT = INTERFACE_AT + INTERFACE_BYTES;
    private static final int SIGNATURE_AT = HEADER_BYTES - SIGNATURE_BYTES;

    private final byte[] content;

    private ModelRegion(byte[] content) {
        this.content = content;
    }

    /**
     * Reads the region at the start of some bytes.
     *
     * @param where the file, for messages
     * @throws KilnException if there is none, or it ends early
     */
    public static ModelRegion read(ByteBuffer bytes, String where) {
        ByteBuffer header = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        byte[] magic = new byte[MAGIC.size()];
        if (header.remaining() < HEADER_BYTES) {
            throw malformed("the file ends inside the header of a region", where);
        }
        header.get(magic);
        if (!Bytes.wrap(magic).equals(MAGIC)) {
            throw malformed("there is no model region", where);
        }
        if (header.getInt(FORMAT_AT) != FORMAT) {
            throw malformed(
                    "the format of a region is " + Integer.toUnsignedString(header.getInt(FORMAT_AT)) + ", not "
                            + FORMAT,
                    where);
        }
        long length = Integer.toUnsignedLong(header.getInt(LENGTH_AT));
        if (length <= HEADER_BYTES || length % ALIGNMENT != 0 || length > header.capacity()) {
            throw malformed("a region states that it has " + length + " bytes", where);
        }
        byte[] content = new byte[(int) length];
        bytes.get(content);
        return new ModelRegion(content);
    }

    /**
     * The length that a header states.
     *
     * @param header at least its 256 bytes
     * @param most the length of a slot
     * @return empty if it is not the header of a region that fits
     */
    public static OptionalInt length(Bytes header, long most) {
        ByteBuffer in = header.buffer().order(ByteOrder.LITTLE_ENDIAN);
        byte[] magic = new byte[MAGIC.size()];
        in.get(magic);
        long length = Integer.toUnsignedLong(in.getInt(LENGTH_AT));
        boolean isRegion = Bytes.wrap(magic).equals(MAGIC) && in.getInt(FORMAT_AT) == FORMAT;
        return isRegion && length > HEADER_BYTES && length % ALIGNMENT == 0 && length <= most
                ? OptionalInt.of((int) length)
                : OptionalInt.empty();
    }

    private static KilnException malformed(String what, String where) {
        return Failure.UPDATE.exception("not an update: " + what, where, "a file that kiln:link wrote");
    }

    /** The same region, whose header states the digest of its content, with a key's signature. */
    public ModelRegion signed(UpdateKey key) {
        byte[] signed = content.clone();
        System.arraycopy(digest(), 0, signed, DIGEST_AT, DIGEST_BYTES);
        byte[] signature = key.sign(Arrays.copyOf(signed, SIGNATURE_AT));
        System.arraycopy(signature, 0, signed, SIGNATURE_AT, SIGNATURE_BYTES);
        return new ModelRegion(signed);
    }

    /** SHA-512/256 of what lies behind the header. */
    private byte[] digest() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-512/256");
            digest.update(content, HEADER_BYTES, content.length - HEADER_BYTES);
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform since 9 has SHA-512/256", e);
        }
    }

    /** Whether its content has the digest that its header states. */
    public boolean isWhole() {
        return Arrays.equals(digest(), Arrays.copyOfRange(content, DIGEST_AT, DIGEST_AT + DIGEST_BYTES));
    }

    /**
     * Whether the owner of a key signed its header.
     *
     * @param key the public key, 32 bytes
     */
    public boolean isSignedBy(Bytes key) {
        return UpdateKey.isSigned(
                key, Arrays.copyOf(content, SIGNATURE_AT), Arrays.copyOfRange(content, SIGNATURE_AT, HEADER_BYTES));
    }

    /** All bytes of the region, header first. */
    public Bytes bytes() {
        return Bytes.copyOf(content);
    }

    /** The address that it is linked for. */
    public long address() {
        return Integer.toUnsignedLong(word(ADDRESS_AT));
    }

    public UpdateVersion version() {
        return UpdateVersion.ofNumber(word(VERSION_AT));
    }

    /** The oldest firmware that it works with. */
    public UpdateVersion minimumFirmware() {
        return UpdateVersion.ofNumber(word(MINIMUM_FIRMWARE_AT));
    }

    /** Whether its memory lies in the RAM that a firmware leaves to models, and its table of functions behind its header. */
    boolean fits(Memory left) {
        Memory used = memory(MEMORY_AT);
        long functions = Integer.toUnsignedLong(word(FUNCTIONS_AT));
        return left.holds(used)
                && used.holds(memory(ZEROED_AT))
                && functions >= HEADER_BYTES
                && functions < content.length
                && functions % Integer.BYTES == 0;
    }

    private Memory memory(int at) {
        return new Memory(Integer.toUnsignedLong(word(at)), Integer.toUnsignedLong(word(at + Integer.BYTES)));
    }

    /** Id of the board that it is for. */
    public String board() {
        return nameAt(BOARD_AT);
    }

    /** Names of its models, separated by commas; cut off if they are long. */
    public String models() {
        return nameAt(MODELS_AT);
    }

    /** Digest of the functions and tensors of its models, in hexadecimal digits. */
    public String interfaceDigest() {
        return HexFormat.of().formatHex(content, INTERFACE_AT, INTERFACE_AT + INTERFACE_BYTES);
    }

    private int word(int at) {
        return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
    }

    private String nameAt(int at) {
        return name(Arrays.copyOfRange(content, at, at + NAME_BYTES));
    }

    /** The text up to the first zero; a question mark stands for a character that is not printable. */
    static String name(byte[] bytes) {
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.ISO_8859_1).replaceAll("[^ -~]", "?");
    }

    /**
     * The description that a device's firmware has of itself before the first slot: {@code struct kiln_slots} in {@code kiln_slots.h}.
     *
     * @param slots addresses of the slots
     * @param slotBytes length of each
     * @param memory RAM that is left to the models
     * @param version of the firmware
     * @param board id of the board that it is for
     * @param interfaceDigest digest of the functions and tensors that it calls, in hexadecimal digits
     * @param key the public key that it accepts, 32 bytes
     */
    public record InstalledFirmware(
            List<Long> slots,
            long slotBytes,
            Memory memory,
            UpdateVersion version,
            String board,
            String interfaceDigest,
            Bytes key) {
        /** Bytes before the first slot. */
        public static final int BYTES = ModelSlots.FIRMWARE_BYTES;

        /**
         * A range of RAM.
         *
         * @param address its first byte
         * @param bytes its length
         */
        public record Memory(long address, long bytes) {
            /** Whether another range lies in it. */
            boolean holds(Memory other) {
                return other.address >= address && other.address + other.bytes <= address + bytes;
            }
        }

        static final Bytes MAGIC = Bytes.ofText("KILNSLOT");

        private static final int INTERFACE_BYTES = 16;

        public InstalledFirmware {
            slots = List.copyOf(slots);
        }

        /** Reads the bytes before the first slot; empty if there is no firmware with slots. */
        public static Optional<InstalledFirmware> read(Bytes content) {
            ByteBuffer in = content.buffer().order(ByteOrder.LITTLE_ENDIAN);
            if (in.remaining() < BYTES || !Bytes.wrap(take(in, MAGIC.size())).equals(MAGIC)) {
                return Optional.empty();
            }
            List<Long> slots = List.of(word(in), word(in));
            long bytes = word(in);
            Memory memory = new Memory(word(in), word(in));
            UpdateVersion version = UpdateVersion.ofNumber(in.getInt());
            String board = ModelRegion.name(take(in, ModelRegion.NAME_BYTES));
            String digest = HexFormat.of().formatHex(take(in, INTERFACE_BYTES));
            return Optional.of(new InstalledFirmware(
                    slots, bytes, memory, version, board, digest, Bytes.wrap(take(in, UpdateKey.PUBLIC_BYTES))));
        }

        private static long word(ByteBuffer in) {
            return Integer.toUnsignedLong(in.getInt());
        }

        private static byte[] take(ByteBuffer in, int bytes) {
            byte[] taken = new byte[bytes];
            in.get(taken);
            return taken;
        }
    }

    /**
     * The models on a device, as its firmware judges them: the newest region that is whole and signed runs.
     *
     * @param firmware what the firmware states of itself
     * @param slots the region in each slot, if there is one of any kind
     */
    public record DeviceModels(InstalledFirmware firmware, List<Optional<ModelRegion>> slots) {
        public DeviceModels {
            slots = List.copyOf(slots);
        }

        /** Number of the slot whose region runs; empty if none does. */
        public Optional<Integer> running() {
            Optional<Integer> newest = Optional.empty();
            for (int i = 0; i < slots.size(); i++) {
                int slot = i;
                Optional<UpdateVersion> best =
                        newest.map(at -> slots.get(at).orElseThrow().version());
                boolean isNewer = slots.get(i)
                        .filter(region -> refusal(region, slot).isEmpty())
                        .filter(region -> best.isEmpty() || region.version().isAbove(best.get()))
                        .isPresent();
                newest = isNewer ? Optional.of(i) : newest;
            }
            return newest;
        }

        /** Number of the slot that an update is written to. */
        public int free() {
            return running().filter(slot -> slot == 0).isPresent() ? 1 : 0;
        }

        /** Version of the models that run; empty if none do. */
        public Optional<UpdateVersion> version() {
            return running().map(slot -> slots.get(slot).orElseThrow().version());
        }

        /** Whether the models of an update run already. */
        public boolean runs(UpdateFile update) {
            Optional<Bytes> now =
                    running().map(slot -> slots.get(slot).orElseThrow().bytes());
            Optional<Bytes> wanted = running()
                    .flatMap(slot -> update.at(firmware.slots().get(slot)))
                    .map(ModelRegion::bytes);
            return now.isPresent() && now.equals(wanted);
        }

        /** The region of an update for the free slot. */
        public Optional<ModelRegion> next(UpdateFile update) {
            return update.at(firmware.slots().get(free()));
        }

        /** Why the device must not get an update; empty if it may. */
        public Optional<String> refusal(UpdateFile update) {
            Optional<ModelRegion> next = next(update);
            if (next.isEmpty()) {
                return Optional.of(String.format(
                        Locale.ROOT,
                        "it has no models for the slot at 0x%08x",
                        firmware.slots().get(free())));
            }
            Optional<String> wrong = refusal(next.get(), free());
            boolean isOld =
                    version().filter(now -> !next.get().version().isAbove(now)).isPresent();
            return wrong.or(() -> isOld
                    ? Optional.of("its models have version " + next.get().version() + ", and version "
                            + version().orElseThrow() + " runs")
                    : Optional.empty());
        }

        /** Why the firmware does not run a region; empty if it does. */
        private Optional<String> refusal(ModelRegion region, int slot) {
            if (region.address() != firmware.slots().get(slot) || region.bytes().size() > firmware.slotBytes()) {
                return Optional.of("its models do not lie in the slot");
            }
            if (!region.board().equals(firmware.board())) {
                return Optional.of("it is for the board " + region.board() + ", not " + firmware.board());
            }
            if (!region.interfaceDigest().equals(firmware.interfaceDigest())) {
                return Optional.of("its models (" + region.models()
                        + ") have other names, tensors or scales than those that the firmware calls");
            }
            if (region.minimumFirmware().isAbove(firmware.version())) {
                return Optional.of(
                        "it needs firmware " + region.minimumFirmware() + ", and the device has " + firmware.version());
            }
            if (!region.fits(firmware.memory())) {
                return Optional.of("its models use other memory than the firmware leaves to them");
            }
            if (!region.isWhole()) {
                return Optional.of("its content is damaged");
            }
            return region.isSignedBy(firmware.key())
                    ? Optional.empty()
                    : Optional.of("it is not signed with the key of the firmware");
        }

        /**
         * An update: the region of the same models for each slot, one after the other.
         *
         * @param regions at least one, signed
         */
        public record UpdateFile(List<ModelRegion> regions) {
            private static final int MOST_BYTES = 256 << 20;
            private static final int MOST_REGIONS = 16;

            public UpdateFile {
                regions = List.copyOf(regions);
            }

            /** The file's content. */
            public Bytes bytes() {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                regions.forEach(region -> out.writeBytes(region.bytes().toArray()));
                return Bytes.wrap(out.toByteArray());
            }

            /**
             * Reads a file.
             *
             * @throws KilnException if it cannot be read or is not an update
             */
            public static UpdateFile read(Path file) {
                try {
                    if (Files.size(file) > MOST_BYTES) {
                        throw Failure.UPDATE.exception(
                                "not an update: it is larger than " + MOST_BYTES + " bytes", file.toString());
                    }
                    return read(Bytes.wrap(Files.readAllBytes(file)), file.toString());
                } catch (IOException e) {
                    throw FileFailure.of("cannot read", file, e);
                }
            }

            /**
             * Reads a file's content.
             *
             * @param where the file, for messages
             * @throws KilnException if it is not an update
             */
            public static UpdateFile read(Bytes content, String where) {
                ByteBuffer rest = content.buffer();
                List<ModelRegion> regions = new ArrayList<>();
                do {
                    regions.add(ModelRegion.read(rest, where));
                } while (rest.hasRemaining() && regions.size() < MOST_REGIONS);
                if (rest.hasRemaining()) {
                    throw Failure.UPDATE.exception(
                            "not an update: it has more than " + MOST_REGIONS + " regions", where);
                }
                return new UpdateFile(regions);
            }

            /** The region for the slot at an address. */
            public Optional<ModelRegion> at(long address) {
                return regions.stream()
                        .filter(region -> region.address() == address)
                        .findFirst();
            }
        }
    }
}
