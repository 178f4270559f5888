// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Digests;
import java.nio.file.Path;

/**
 * Which model a program was built with.
 *
 * @param version its version; empty if it has none
 * @param sha256 SHA-256 of its file, in hexadecimal digits; empty if unknown
 */
public record ModelIdentity(String version, String sha256) {
    /** A model of which nothing is known. */
    public static final ModelIdentity UNKNOWN = new ModelIdentity("", "");

    /**
     * The identity of a file.
     *
     * @throws io.kiln.base.KilnException if it cannot be read
     */
    public static ModelIdentity of(Path file, String version) {
        return new ModelIdentity(version, Digests.sha256(file));
    }
}
