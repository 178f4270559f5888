// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.base.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Spoils files at random, in ways that readers stumble over; the same seed spoils in the same way. */
final class Mutations {
    private static final int[] WORDS = {
        0, 1, -1, 2, 4, 8, 127, 128, 255, 256, 65535, 65536, 1 << 24, 0x7FFFFFFF, 1 << 31
    };
    private static final String[] TEXTS = {
        "0",
        "-1",
        "1e38",
        "nan",
        "99999999999999999999",
        "\"",
        "'",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ":",
        ",",
        ";",
        "\n",
        "../",
        "&a ",
        "*a",
        "null",
        "true",
        "~",
        "%",
        "[[[[[[[[",
        "{{{{{{{{",
        "\t",
        "\0",
        "\u00e9"
    };

    private final Random random;
    private final List<Bytes> seeds;

    Mutations(long seed, List<Bytes> seeds) {
        this.random = new Random(seed);
        this.seeds = seeds;
    }

    /** A seed with some changes. */
    Bytes next() {
        byte[] file = pick().toArray();
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            file = change(file);
        }
        return Bytes.wrap(file);
    }

    private byte[] text() {
        return TEXTS[random.nextInt(TEXTS.length)].getBytes(StandardCharsets.UTF_8);
    }

    private Bytes pick() {
        return seeds.get(random.nextInt(seeds.size()));
    }

    private byte[] change(byte[] file) {
        if (file.length < 8) {
            return text();
        }
        int at = random.nextInt(file.length);
        int length = 1 + random.nextInt(Math.min(64, file.length - at));
        return switch (random.nextInt(8)) {
            case 0 -> with(file, at, (byte) random.nextInt());
            case 1 -> with(file, at, (byte) (file[at] ^ 1 << random.nextInt(8)));
            case 2, 3 -> word(file, at & ~3);
            case 4 -> Arrays.copyOf(file, at);
            case 5 -> replaced(file, at, length, new byte[0]);
            case 6 -> replaced(file, at, random.nextBoolean() ? 0 : length, slice(pick().toArray()));
            default -> replaced(file, at, random.nextInt(3), text());
        };
    }

    private static byte[] with(byte[] file, int at, byte value) {
        byte[] changed = file.clone();
        changed[at] = value;
        return changed;
    }

    private byte[] word(byte[] file, int at) {
        int value = random.nextInt(3) == 0 ? random.nextInt(file.length) : WORDS[random.nextInt(WORDS.length)];
        byte[] changed = file.clone();
        for (int i = 0; i < 4 && at + i < file.length; i++) {
            changed[at + i] = (byte) (value >> (8 * i));
        }
        return changed;
    }

    private byte[] slice(byte[] file) {
        int from = random.nextInt(file.length + 1);
        return Arrays.copyOfRange(file, from, Math.min(file.length, from + random.nextInt(64)));
    }

    private static byte[] replaced(byte[] file, int at, int length, byte[] by) {
        int end = Math.min(file.length, at + length);
        byte[] changed = Arrays.copyOf(file, at + by.length + file.length - end);
        System.arraycopy(by, 0, changed, at, by.length);
        System.arraycopy(file, end, changed, at + by.length, file.length - end);
        return changed;
    }
}
