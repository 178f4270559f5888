// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ModelLibrary.ArchiveOrigin;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The archives whose C the build trusts like the user's own. A digest trusts exactly these bytes, wherever they come
 * from; a file's name trusts whatever the file contains, and is meant for archives that the project itself generates.
 * The archive's own statements do not count, because anybody can write them.
 *
 * @param entries {@code sha256:} with 64 lower-case hexadecimal digits, or a file's name without folders
 */
public record TrustedArchives(Set<String> entries) {
    /** No archive is trusted. */
    public static final TrustedArchives NONE = new TrustedArchives(Set.of());

    private static final String DIGEST = "sha256:";
    private static final Pattern ENTRY =
            Pattern.compile("sha256:[0-9a-f]{64}|(?!sha256:)[A-Za-z0-9_][A-Za-z0-9_.+ -]*");

    public TrustedArchives {
        entries = Set.copyOf(entries);
    }

    /**
     * Reads the parameter's value: entries separated by commas.
     *
     * @throws KilnException naming each entry that is neither a digest nor a file's name
     */
    public static TrustedArchives parse(String text) {
        TreeSet<String> entries = new TreeSet<>();
        Problems problems = new Problems(Failure.CONFIG);
        for (String part : text.split(",", -1)) {
            String entry = part.strip();
            if (entry.isEmpty()) {
                continue;
            }
            if (!ENTRY.matcher(entry).matches()) {
                problems.add(
                        "\"" + entry + "\" is not an archive",
                        "kiln.trustArchive",
                        DIGEST + " with 64 hexadecimal digits in lower case, or a file's name without folders",
                        "sha256sum prints the digest");
            }
            entries.add(entry);
        }
        problems.throwIfAny();
        return new TrustedArchives(entries);
    }

    /** Whether the build trusts an archive. */
    public boolean contains(ArchiveOrigin origin) {
        return entries.contains(DIGEST + origin.sha256()) || entries.contains(origin.fileName());
    }

    /** How to trust an archive. */
    public static String advice(ArchiveOrigin origin) {
        return "If you trust who made " + origin.fileName() + ": <trustArchive>" + DIGEST + origin.sha256()
                + "</trustArchive>";
    }
}
