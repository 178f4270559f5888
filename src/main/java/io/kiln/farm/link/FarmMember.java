// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a worker tells the broker of itself when it logs in, as its user name. It proves nothing: a password or a certificate does.
 *
 * @param version of its Kiln
 * @param name unique in the farm
 * @param slot the probe of its board, or the number of an emulator
 */
public record FarmMember(String version, String name, String slot) {
    private static final String PART = "([A-Za-z0-9._-]{1,40})";
    private static final Pattern USER = Pattern.compile(FarmLink.USER + "/" + PART + "/" + PART + "/" + PART);
    private static final int LONGEST = 40;

    /** Its parts, with other characters than letters, digits, dots, hyphens and underscores replaced, and at most 40 of them. */
    public FarmMember {
        version = plain(version);
        name = plain(name);
        slot = plain(slot);
    }

    /** A name as the broker knows it. */
    public static String plain(String text) {
        String kept = text.replaceAll("[^A-Za-z0-9._-]", "_");
        return kept.isEmpty() ? "_" : kept.substring(0, Math.min(LONGEST, kept.length()));
    }

    String user() {
        return FarmLink.USER + "/" + version + "/" + name + "/" + slot;
    }

    /** Who has a user name; empty for members that do not say. */
    public static Optional<FarmMember> of(String user) {
        Matcher matcher = USER.matcher(user);
        return matcher.matches()
                ? Optional.of(new FarmMember(matcher.group(1), matcher.group(2), matcher.group(3)))
                : Optional.empty();
    }
}
