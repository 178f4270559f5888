// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.elf;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile.Section;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What an object file says of how it was compiled: the attributes of the whole file in {@code .ARM.attributes} (Addenda to, and Errata in,
 * the ABI for the Arm Architecture, 2) and {@code .riscv.attributes} (RISC-V ELF psABI specification, Attributes).
 *
 * @param numbers values by tag; a tag that is absent has the value 0
 * @param texts values by tag
 */
public record BuildAttributes(Map<Integer, Long> numbers, Map<Integer, String> texts) {
    private static final int TYPE = 0x70000003;
    private static final int EM_ARM = 40;
    private static final int FORMAT = 'A';
    private static final int WHOLE_FILE = 1;
    private static final int ARM_COMPATIBILITY = 32;
    private static final int ARM_LAST_SPECIAL = 32;
    private static final int ARM_RAW_NAME = 4;
    private static final int ARM_NAME = 5;
    private static final int MOST_BYTES = 1 << 16;
    private static final int ULEB_BITS = 63;

    public BuildAttributes {
        numbers = Collections.unmodifiableMap(new TreeMap<>(numbers));
        texts = Collections.unmodifiableMap(new TreeMap<>(texts));
    }

    /**
     * Reads those of an object.
     *
     * @param name the object's name, for messages
     * @return empty if it has none
     * @throws KilnException if they are cut short or damaged
     */
    public static Optional<BuildAttributes> of(ElfFile elf, String name) {
        return elf.sections().stream()
                .filter(section -> section.type() == TYPE)
                .findFirst()
                .map(section -> new Reader(elf, section, name).read());
    }

    /** The value of a tag; 0 if it is absent. */
    public int number(int tag) {
        return (int) Math.min(Integer.MAX_VALUE, numbers.getOrDefault(tag, 0L));
    }

    /** Reads a section; every length is checked against what holds it. */
    private static final class Reader {
        private final ByteBuffer in;
        private final boolean isArm;
        private final String name;
        private final Map<Integer, Long> numbers = new TreeMap<>();
        private final Map<Integer, String> texts = new TreeMap<>();

        Reader(ElfFile elf, Section section, String name) {
            this.isArm = elf.machine() == EM_ARM;
            this.name = name;
            if (section.size() > MOST_BYTES) {
                throw broken("they have " + section.size() + " bytes");
            }
            this.in = elf.content()
                    .slice((int) section.offset(), (int) section.size())
                    .order(elf.content().order());
        }

        BuildAttributes read() {
            if (!in.hasRemaining() || in.get() != FORMAT) {
                throw broken("their format is not A");
            }
            int end = in.limit();
            while (in.position() < end) {
                int subsection = part(end, 0);
                boolean isPublic = text(subsection).equals(isArm ? "aeabi" : "riscv");
                while (in.position() < subsection) {
                    int start = in.position();
                    long scope = number(subsection);
                    int scoped = part(subsection, in.position() - start);
                    if (isPublic && scope == WHOLE_FILE) {
                        values(scoped);
                    }
                    in.position(scoped);
                }
            }
            return new BuildAttributes(numbers, texts);
        }

        /** The end of a part whose length, with some bytes before it, comes next. */
        private int part(int end, int before) {
            if (end - in.position() < Integer.BYTES) {
                throw broken("a length is cut short");
            }
            int start = in.position() - before;
            long length = Integer.toUnsignedLong(in.getInt());
            if (length < in.position() - start || length > end - start) {
                throw broken("a part of " + length + " bytes is longer than what holds it");
            }
            return start + (int) length;
        }

        private void values(int end) {
            while (in.position() < end) {
                long tag = number(end);
                if (tag > Integer.MAX_VALUE) {
                    throw broken("a tag is too large");
                }
                if (isArm && tag == ARM_COMPATIBILITY) {
                    number(end);
                    text(end);
                } else if (isText((int) tag)) {
                    texts.put((int) tag, text(end));
                } else {
                    numbers.put((int) tag, number(end));
                }
            }
        }

        private boolean isText(int tag) {
            boolean byParity = !isArm || tag > ARM_LAST_SPECIAL;
            return byParity ? tag % 2 == 1 : tag == ARM_RAW_NAME || tag == ARM_NAME;
        }

        private long number(int end) {
            long value = 0;
            for (int shift = 0; shift < ULEB_BITS && in.position() < end; shift += 7) {
                int next = in.get();
                value |= (long) (next & 0x7f) << shift;
                if ((next & 0x80) == 0) {
                    return value;
                }
            }
            throw broken("a number is cut short");
        }

        private String text(int end) {
            int start = in.position();
            while (in.position() < end) {
                if (in.get() == 0) {
                    byte[] bytes = new byte[in.position() - 1 - start];
                    in.get(start, bytes);
                    return new String(bytes, StandardCharsets.ISO_8859_1);
                }
            }
            throw broken("a text is not terminated");
        }

        private KilnException broken(String what) {
            int at = in == null ? 0 : in.position();
            return Failure.CODE.exception(
                    "the attributes of this object are damaged: " + what,
                    name + String.format(Locale.ROOT, ", byte %d of them", at),
                    "",
                    "Compile it again");
        }
    }
}
