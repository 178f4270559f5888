// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.Arrays;

/**
 * Base 85 with the alphabet of RFC 1924 over groups of four bytes, big-endian, as Python's {@code base64.b85encode}
 * writes it. A last group of k bytes has k + 1 characters.
 */
final class Base85 {
    private static final String ALPHABET =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    private static final int BASE = 85;
    private static final int GROUP_BYTES = 4;
    private static final int GROUP_CHARACTERS = 5;
    private static final long MOST_OF_A_GROUP = 0xFFFFFFFFL;

    private Base85() {}

    static String encode(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length / GROUP_BYTES * GROUP_CHARACTERS + GROUP_CHARACTERS);
        for (int start = 0; start < bytes.length; start += GROUP_BYTES) {
            byte[] group = Arrays.copyOfRange(bytes, start, start + GROUP_BYTES);
            long value = 0;
            for (byte each : group) {
                value = (value << Byte.SIZE) | (each & 0xFF);
            }
            char[] characters = new char[GROUP_CHARACTERS];
            for (int i = GROUP_CHARACTERS - 1; i >= 0; i--) {
                characters[i] = ALPHABET.charAt((int) (value % BASE));
                value /= BASE;
            }
            text.append(characters, 0, Math.min(GROUP_BYTES, bytes.length - start) + 1);
        }
        return text.toString();
    }

    /**
     * The bytes of a text.
     *
     * @throws KilnException if a character is not in the alphabet, or a group is above 2^32 - 1
     */
    static byte[] decode(String text) {
        // A single character at the end has no bytes, as in Python.
        int rest = text.length() % GROUP_CHARACTERS;
        byte[] bytes = new byte[text.length() / GROUP_CHARACTERS * GROUP_BYTES + Math.max(0, rest - 1)];
        for (int start = 0, at = 0; start < text.length(); start += GROUP_CHARACTERS, at += GROUP_BYTES) {
            long value = group(text, start);
            for (int i = 0; i < Math.min(GROUP_BYTES, bytes.length - at); i++) {
                bytes[at + i] = (byte) (value >> ((GROUP_BYTES - 1 - i) * Byte.SIZE));
            }
        }
        return bytes;
    }

    private static long group(String text, int start) {
        long value = 0;
        for (int i = start; i < start + GROUP_CHARACTERS; i++) {
            int digit = i < text.length() ? ALPHABET.indexOf(text.charAt(i)) : BASE - 1;
            if (digit < 0) {
                throw refused("character " + (i + 1) + " is none of base 85");
            }
            value = value * BASE + digit;
        }
        if (value > MOST_OF_A_GROUP) {
            throw refused("the five characters from " + (start + 1) + " on are above 2^32 - 1");
        }
        return value;
    }

    private static KilnException refused(String what) {
        return Failure.API.exception(what, "data", "base 85 (RFC 1924)");
    }
}
