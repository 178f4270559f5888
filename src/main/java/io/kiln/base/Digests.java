// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 over bytes and text, as lower-case hex. */
public final class Digests {
    private Digests() {}

    public static String sha256(byte[] content) {
        return HexFormat.of().formatHex(newSha256().digest(content));
    }

    public static String sha256(String text) {
        return sha256(text.getBytes(StandardCharsets.UTF_8));
    }

    public static MessageDigest newSha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
