// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.FileFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The licences that sources state at their beginning, by {@code SPDX-License-Identifier}. */
final class SourceLicences {
    /** An SPDX expression; the characters are those of SPDX 2.3, annex D. */
    private static final Pattern LICENCE =
            Pattern.compile("SPDX-License-Identifier:[ \\t]*([A-Za-z0-9.+() -]{1,120}?)[ \\t]*(?:\\*/.*)?(?:\\R|\\z)");

    private static final int HEAD = 4096;

    private SourceLicences() {}

    /** The expression of a file; empty if it states none. */
    static String of(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            Matcher found = LICENCE.matcher(new String(in.readNBytes(HEAD), StandardCharsets.ISO_8859_1));
            return found.find() ? found.group(1).strip() : "";
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }
}
