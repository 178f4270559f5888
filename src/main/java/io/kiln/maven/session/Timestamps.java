// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/** Reads {@code project.build.outputTimestamp} as Maven's own plugins do. */
public final class Timestamps {
    private Timestamps() {}

    /**
     * The time: ISO 8601 with an offset, or seconds since 1970; none for an empty text or a single other character.
     *
     * @throws KilnException for any other text
     */
    public static Optional<Instant> parse(String text) {
        if (text == null || text.isBlank() || (text.length() == 1 && !Character.isDigit(text.charAt(0)))) {
            return Optional.empty();
        }
        try {
            if (text.chars().allMatch(Character::isDigit)) {
                return Optional.of(Instant.ofEpochSecond(Long.parseLong(text)));
            }
            return Optional.of(OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException | NumberFormatException e) {
            throw new KilnException(
                    Failure.CONFIG.problem(
                            "project.build.outputTimestamp is '" + text + "'",
                            "pom.xml",
                            "a time such as 2026-01-01T00:00:00Z, or seconds since 1970",
                            "Correct the property"),
                    e);
        }
    }
}
