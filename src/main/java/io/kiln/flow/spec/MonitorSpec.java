// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How to watch the console.
 *
 * @param console its serial port
 * @param until a text to wait for, or a time such as {@code 10s}, {@code 500ms} or {@code 2m}; empty to watch until the user stops
 * @param limit time limit for the text to appear
 */
public record MonitorSpec(ConsoleSpec console, Optional<String> until, Duration limit) {
    private static final Pattern TIME = Pattern.compile("([0-9]{1,9})(ms|s|m)");

    /** The time to watch for, if {@link #until} is one. */
    public Optional<Duration> time() {
        return until.map(TIME::matcher).filter(Matcher::matches).map(matcher -> {
            long number = Long.parseLong(matcher.group(1));
            return switch (matcher.group(2)) {
                case "ms" -> Duration.ofMillis(number);
                case "s" -> Duration.ofSeconds(number);
                default -> Duration.ofMinutes(number);
            };
        });
    }

    /** The text to wait for, if {@link #until} is one. */
    public Optional<String> text() {
        if (until.filter(String::isEmpty).isPresent()) {
            throw Failure.CONFIG.exception("it is empty", "kiln.monitor.until", "a text, or a time such as 10s");
        }
        return time().isPresent() ? Optional.empty() : until;
    }
}
