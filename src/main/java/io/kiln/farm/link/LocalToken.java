// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;

/**
 * The password of farms without TLS: every user of a computer reaches its loopback interface, but only one of them can read this file. Whoever comes
 * first, a broker, a worker or a build, makes it; it stays.
 */
public final class LocalToken {
    /** Name of the file in {@code kiln.home}. */
    public static final String FILE = "farm.token";

    private static final int BYTES = 32;
    private static final Set<PosixFilePermission> OWNERS =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    private LocalToken() {}

    /**
     * The token, which is made if it is missing.
     *
     * @param home {@code kiln.home}, which all members on this computer share
     * @throws KilnException if it cannot be read, or others may read it
     */
    public static String of(Path home) {
        try (FolderLock lock = FolderLock.acquire(home, FILE)) {
            Path file = lock.guarding(home).resolve(FILE);
            if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                make(file);
            }
            requirePrivate(file);
            String token = Files.readString(file, StandardCharsets.US_ASCII);
            if (token.length() != 2 * BYTES) {
                throw Failure.FARM.exception(
                        "not the token of a farm",
                        file.toString(),
                        2 * BYTES + " digits",
                        "Delete it, and start the farm again");
            }
            return token;
        } catch (IOException e) {
            throw FileFailure.of("cannot use", home.resolve(FILE), e);
        }
    }

    private static void make(Path file) throws IOException {
        byte[] random = new byte[BYTES];
        new SecureRandom().nextBytes(random);
        // Temporary files are private from their beginning.
        Path temporary = Files.createTempFile(file.getParent(), "." + FILE, ".part");
        try {
            Files.writeString(temporary, HexFormat.of().formatHex(random), StandardCharsets.US_ASCII);
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static void requirePrivate(Path file) throws IOException {
        PosixFileAttributeView view =
                Files.getFileAttributeView(file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
        boolean isFile = Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
        if (!isFile
                || (view != null && !OWNERS.containsAll(view.readAttributes().permissions()))) {
            throw Failure.TRUST.exception(
                    "refused: others may read or change the token of this computer's farms",
                    file.toString(),
                    "a file of your own that nobody else reads",
                    "Others may know it: delete it, and start the farm again");
        }
    }
}
