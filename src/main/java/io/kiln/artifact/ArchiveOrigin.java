// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

/**
 * The archive that a model library was read from.
 *
 * @param fileName its name, without folders
 * @param sha256 digest of the whole file, lower-case hexadecimal
 */
public record ArchiveOrigin(String fileName, String sha256) {}
