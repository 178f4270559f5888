// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
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

    /** The digest of a file's content. */
    public static String sha256(Path file) {
        MessageDigest digest = newSha256();
        try (InputStream in = Files.newInputStream(file);
                DigestOutputStream out = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
            in.transferTo(out);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    public static MessageDigest newSha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
