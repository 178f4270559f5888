// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.StrictText;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.zip.CRC32;

/**
 * Artifacts as bytes, without processing their content. All numbers are little-endian; the same artifacts give the same bytes.
 *
 * <p>One artifact: the magic {@code KILNART1}, u32 number of fields, then for each field u16 tag, u64 length and the bytes, by ascending tag: 1 code
 * generator, 2 loader, 3 file name, 4 target key, 5 content; u32 CRC-32 (IEEE 802.3) of all that precedes it. Unknown tags from 0x8000 on are
 * skipped; other unknown tags are refused.
 *
 * <p>A set: the magic {@code KILNSET1}, u32 number of targets, for each u16 length and its key, u32 length and its target string; u32 number
 * of artifacts, the artifacts; u32 CRC-32 of all that precedes it. There are at most 1024 artifacts and 256 targets, so that their objects take
 * little memory.
 */
final class ArtifactBlob {
    static final String ARTIFACT = "KILNART1";
    static final String SET = "KILNSET1";

    /** Tags from here on may be skipped by readers that do not know them. */
    static final int OPTIONAL = 0x8000;

    private static final int MOST_ARTIFACTS = 1024;
    private static final int MOST_TARGETS = 256;
    private static final int CODEGEN = 1;
    private static final int LOADER = 2;
    private static final int FILE_NAME = 3;
    private static final int TARGET_KEY = 4;
    private static final int CONTENT = 5;

    private ArtifactBlob() {}

    static Bytes export(Artifact artifact) {
        BlobWriter out = new BlobWriter();
        int start = out.begin(ARTIFACT);
        out.u32(CONTENT);
        field(out, CODEGEN, text(artifact.codegenId()));
        field(out, LOADER, text(artifact.loader()));
        field(out, FILE_NAME, text(artifact.fileName()));
        field(out, TARGET_KEY, text(artifact.targetKey()));
        field(out, CONTENT, artifact.content().toArray());
        out.end(start);
        return out.bytes();
    }

    /** A set as bytes. */
    static Bytes export(ArtifactSet set) {
        require("artifacts", set.artifacts().size(), MOST_ARTIFACTS);
        require("targets", set.targets().size(), MOST_TARGETS);
        BlobWriter out = new BlobWriter();
        int start = out.begin(SET);
        out.u32(set.targets().size());
        set.targets().forEach((key, target) -> {
            out.u16(text(key).length).raw(text(key));
            out.u32(text(target).length).raw(text(target));
        });
        out.u32(set.artifacts().size());
        set.artifacts().forEach(artifact -> out.raw(export(artifact).toArray()));
        out.end(start);
        return out.bytes();
    }

    /**
     * Reads what {@link #export(Artifact)} wrote.
     *
     * @param name the file's name, for messages
     * @throws KilnException with the offset of what is wrong
     */
    static Artifact load(Bytes blob, String name) {
        BlobReader in = new BlobReader(blob, name);
        Artifact artifact = read(in);
        in.requireEnd();
        return artifact;
    }

    /**
     * Reads what {@link #export(ArtifactSet)} wrote. A set in another order than {@link ArtifactSet}'s is refused.
     *
     * @param name the file's name, for messages
     * @throws KilnException with the offset of what is wrong
     */
    static ArtifactSet loadSet(Bytes blob, String name) {
        BlobReader in = new BlobReader(blob, name);
        int start = in.begin(SET);
        SortedMap<String, String> targets = new TreeMap<>();
        for (long count = in.count("targets", MOST_TARGETS); count > 0; count--) {
            int at = in.position();
            String key = in.text(in.u16("the length of a target key"), "a target key");
            String target = in.text(in.u32("the length of a target string"), "a target string");
            if (!targets.isEmpty() && targets.lastKey().compareTo(key) >= 0) {
                throw in.broken("the target key `" + key + "` does not follow `" + targets.lastKey() + "`", at);
            }
            targets.put(key, target);
        }
        List<Artifact> artifacts = new ArrayList<>();
        int at = in.position();
        for (long count = in.count("artifacts", MOST_ARTIFACTS); count > 0; count--) {
            artifacts.add(read(in));
        }
        in.end(start);
        in.requireEnd();
        ArtifactSet set = in.checked(() -> new ArtifactSet(artifacts, targets), at);
        if (!set.artifacts().equals(artifacts)) {
            throw in.broken("the artifacts are not sorted by target key, loader, code generator and file name", at);
        }
        return set;
    }

    private static void require(String what, int count, int most) {
        if (count > most) {
            throw Failure.ARCHIVE.exception(
                    "there are " + count + " " + what + ", more than " + most, "set of artifacts");
        }
    }

    private static void field(BlobWriter out, int tag, byte[] value) {
        out.u16(tag).u64(value.length).raw(value);
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Artifact read(BlobReader in) {
        int start = in.begin(ARTIFACT);
        long count = in.u32("the number of fields");
        Bytes[] fields = new Bytes[CONTENT + 1];
        int last = 0;
        for (; count > 0; count--) {
            int at = in.position();
            int tag = in.u16("the tag of a field");
            long length = in.u64("the length of a field");
            if (tag <= last || (tag > CONTENT && tag < OPTIONAL)) {
                throw in.broken(tag <= last ? "tag " + tag + " follows tag " + last : "tag " + tag + " is unknown", at);
            }
            last = tag;
            if (tag <= CONTENT) {
                fields[tag] = in.raw(length, "field " + tag);
            } else {
                in.skip(length, "field " + tag);
            }
        }
        for (int tag = CODEGEN; tag <= CONTENT; tag++) {
            if (fields[tag] == null) {
                throw in.broken("field " + tag + " is missing", start);
            }
        }
        in.end(start);
        // Only ASCII is valid in names, whatever other bytes decode to.
        return in.checked(
                () -> new Artifact(
                        fields[CODEGEN].text(),
                        fields[LOADER].text(),
                        fields[FILE_NAME].text(),
                        fields[CONTENT],
                        fields[TARGET_KEY].text()),
                start);
    }

    /** Reads what {@link BlobWriter} wrote, from sources that may be damaged: every error has its offset, and nothing is allocated beyond the file. */
    private static final class BlobReader {
        private static final int MAGIC_BYTES = 8;

        private final Bytes blob;
        private final ByteBuffer in;
        private final String name;

        BlobReader(Bytes blob, String name) {
            this.blob = blob;
            this.in = blob.buffer();
            this.name = name;
        }

        int position() {
            return in.position();
        }

        /** Reads the magic of a part and returns its offset. */
        int begin(String magic) {
            int start = in.position();
            if (!text(MAGIC_BYTES, "the magic " + magic).equals(magic)) {
                throw broken("it does not begin with " + magic, start);
            }
            return start;
        }

        /** Reads and checks the checksum of the part that begins at an offset. */
        void end(int start) {
            int at = in.position();
            CRC32 crc = new CRC32();
            crc.update(in.duplicate().position(start).limit(at));
            long stated = u32("a checksum");
            if (stated != crc.getValue()) {
                throw broken(
                        String.format(Locale.ROOT, "the checksum is 0x%08x, not 0x%08x", crc.getValue(), stated), at);
            }
        }

        void requireEnd() {
            if (in.hasRemaining()) {
                throw broken(in.remaining() + " bytes follow", in.position());
            }
        }

        int u16(String what) {
            need(2, what);
            return in.getShort() & 0xFFFF;
        }

        long u32(String what) {
            need(4, what);
            return in.getInt() & 0xFFFFFFFFL;
        }

        /** A number of items, in 32 bits. */
        int count(String what, int most) {
            int at = in.position();
            long count = u32("the number of " + what);
            if (count > most) {
                throw broken("there are " + count + " " + what + ", more than " + most, at);
            }
            return (int) count;
        }

        /** A number of 64 bits without sign; above 2^63 it is negative. */
        long u64(String what) {
            need(8, what);
            return in.getLong();
        }

        void skip(long bytes, String what) {
            need(bytes, what);
            in.position(in.position() + (int) bytes);
        }

        Bytes raw(long bytes, String what) {
            int start = in.position();
            skip(bytes, what);
            return blob.part(start, in.position() - start);
        }

        String text(long bytes, String what) {
            int start = in.position();
            need(bytes, what);
            if (bytes > StrictText.MOST_BYTES) {
                throw broken(what + " takes " + bytes + " bytes, more than " + StrictText.MOST_BYTES, start);
            }
            return StrictText.of(raw(bytes, what)).orElseThrow(() -> broken(what + " is not text in UTF-8", start));
        }

        /** Makes a value; what its constructor refuses becomes an error with the offset. */
        <T> T checked(Supplier<T> value, int at) {
            try {
                return value.get();
            } catch (KilnException e) {
                throw broken(e.problems().get(0).text(), at);
            }
        }

        KilnException broken(String what, int at) {
            return Failure.ARCHIVE.exception(
                    "this is not a whole blob of artifacts: " + what,
                    name + String.format(Locale.ROOT, ", offset 0x%x", at));
        }

        private void need(long bytes, String what) {
            if (bytes < 0 || bytes > in.remaining()) {
                throw broken(
                        what + " takes " + Long.toUnsignedString(bytes) + " bytes of " + in.remaining() + " left",
                        in.position());
            }
        }
    }

    /** Writes little-endian numbers, and parts that begin with a magic and end with a CRC-32. */
    private static final class BlobWriter {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        /** Begins a part and returns its offset. */
        int begin(String magic) {
            int start = out.size();
            raw(magic.getBytes(StandardCharsets.US_ASCII));
            return start;
        }

        /** Ends the part that begins at an offset with its checksum. */
        void end(int start) {
            CRC32 crc = new CRC32();
            byte[] written = out.toByteArray();
            crc.update(written, start, written.length - start);
            u32(crc.getValue());
        }

        BlobWriter u16(int value) {
            return number(value, 2);
        }

        BlobWriter u32(long value) {
            return number(value, 4);
        }

        BlobWriter u64(long value) {
            return number(value, 8);
        }

        BlobWriter raw(byte[] bytes) {
            out.writeBytes(bytes);
            return this;
        }

        private BlobWriter number(long value, int bytes) {
            byte[] text = new byte[bytes];
            for (int i = 0; i < bytes; i++) {
                text[i] = (byte) (value >>> (8 * i));
            }
            return raw(text);
        }

        Bytes bytes() {
            return Bytes.wrap(out.toByteArray());
        }
    }
}
