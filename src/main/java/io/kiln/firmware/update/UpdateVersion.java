// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A version of models or firmware, which devices compare.
 *
 * @param major 0 to 255
 * @param minor 0 to 255
 * @param patch 0 to 65535
 */
public record UpdateVersion(int major, int minor, int patch) {
    private static final Pattern TEXT =
            Pattern.compile("(\\d{1,5})(?:\\.(\\d{1,5}))?(?:\\.(\\d{1,5}))?(?:[-+.][A-Za-z][A-Za-z0-9.+-]*)?");

    private static final int MOST = 0xff;
    private static final int MOST_PATCH = 0xffff;

    /**
     * Reads {@code 1.2.3}; parts that are missing are 0, and a qualifier such as {@code -SNAPSHOT} is left out.
     *
     * @param where the parameter, for messages
     * @throws KilnException if it is not a version of that form, or a part is too large
     */
    public static UpdateVersion parse(String text, String where) {
        Matcher parts = TEXT.matcher(text.strip());
        if (parts.matches()) {
            UpdateVersion version = new UpdateVersion(part(parts.group(1)), part(parts.group(2)), part(parts.group(3)));
            if (version.major <= MOST && version.minor <= MOST && version.patch <= MOST_PATCH) {
                return version;
            }
        }
        throw Failure.UPDATE.exception(
                "not a version that devices can compare: '" + text + "'",
                where,
                "MAJOR.MINOR.PATCH, of at most 255.255.65535, such as 1.4.0");
    }

    private static int part(String digits) {
        return digits == null ? 0 : Integer.parseInt(digits);
    }

    /** The version of a number as in the header of a region. */
    static UpdateVersion ofNumber(int number) {
        return new UpdateVersion(number >>> 24, number >>> 16 & MOST, number & MOST_PATCH);
    }

    /** The version as an unsigned number of 32 bits, which grows with it. */
    public int number() {
        return major << 24 | minor << 16 | patch;
    }

    public boolean isAbove(UpdateVersion other) {
        return Integer.compareUnsigned(number(), other.number()) > 0;
    }

    @Override
    public String toString() {
        return major + "." + minor + "." + patch;
    }
}
