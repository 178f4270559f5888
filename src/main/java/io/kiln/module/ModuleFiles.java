// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import java.util.regex.Pattern;

/** Names of the files that payloads are shown as. */
final class ModuleFiles {
    private static final Pattern SUFFIX = Pattern.compile("[A-Za-z0-9_]{1,16}");

    private ModuleFiles() {}

    /** A format as suffix; {@code bin} if it cannot be one. */
    static String suffix(String format) {
        return SUFFIX.matcher(format).matches() ? format : "bin";
    }
}
