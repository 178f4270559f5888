// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;

/** Keys for tests, which are no secrets. */
public final class TestKeys {
    /** The start of an Ed25519 key in PKCS#8: RFC 8410, section 7. */
    private static final byte[] HEAD = HexFormat.of().parseHex("302e020100300506032b657004220420");

    private static final int SECRET_BYTES = 32;

    private TestKeys() {}

    /** Writes a key; equal numbers give equal keys. */
    public static Path write(Path folder, int number) {
        byte[] key = Arrays.copyOf(HEAD, HEAD.length + SECRET_BYTES);
        Arrays.fill(key, HEAD.length, key.length, (byte) number);
        Path file = folder.resolve("key" + number + ".pem");
        WholeFiles.write(
                file,
                "-----BEGIN PRIVATE KEY-----\n" + Base64.getEncoder().encodeToString(key)
                        + "\n-----END PRIVATE KEY-----\n");
        permit(file, "rw-------");
        return file;
    }

    /** Sets the permissions of a key. */
    static void permit(Path file, String permissions) {
        try {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A key. */
    public static UpdateKey key(Path folder, int number) {
        return UpdateKey.read(write(folder, number));
    }
}
