// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A schedule with a value for each of its knobs. Its {@link #text} is the canonical form in reports and records, such
 * as {@code conv_direct(channel_block=4, unroll=2)}; knobs with their default value are omitted.
 *
 * @param schedule name of the schedule
 * @param settings values of knobs, in the order of the schedule's {@link Space}
 */
public record Configuration(String schedule, List<Setting> settings) {
    private static final Pattern TEXT = Pattern.compile("([a-z0-9_]+)(?:\\(([^()]+)\\))?");
    private static final Pattern SETTING = Pattern.compile("([a-z0-9_]+)(?:=([a-z0-9_]+))?");

    /**
     * The value of a knob.
     *
     * @param knob its name
     * @param value its text; empty for a flag that is on
     */
    public record Setting(String knob, String value) {
        private String text() {
            return value.isEmpty() ? knob : knob + "=" + value;
        }
    }

    public Configuration {
        settings = List.copyOf(settings);
    }

    /** A configuration without settings. */
    public static Configuration of(String schedule) {
        return new Configuration(schedule, List.of());
    }

    /**
     * Parses a configuration.
     *
     * @throws IllegalArgumentException if the text is not that of a configuration
     */
    public static Configuration parse(String text) {
        Matcher whole = TEXT.matcher(text);
        if (!whole.matches()) {
            throw new IllegalArgumentException("no configuration of a schedule: " + text);
        }
        List<Setting> settings = new ArrayList<>();
        String inner = Optional.ofNullable(whole.group(2)).orElse("");
        for (String part : inner.isEmpty() ? new String[0] : inner.split(", ", -1)) {
            Matcher setting = SETTING.matcher(part);
            if (!setting.matches()) {
                throw new IllegalArgumentException("no setting of a knob: " + part + " in " + text);
            }
            settings.add(new Setting(
                    setting.group(1), Optional.ofNullable(setting.group(2)).orElse("")));
        }
        return new Configuration(whole.group(1), settings);
    }

    /** The canonical text. */
    public String text() {
        return settings.isEmpty()
                ? schedule
                : settings.stream().map(Setting::text).collect(Collectors.joining(", ", schedule + "(", ")"));
    }

    /** A copy with one more setting. */
    public Configuration with(String knob, String value) {
        List<Setting> more = new ArrayList<>(settings);
        more.add(new Setting(knob, value));
        return new Configuration(schedule, more);
    }

    /** A copy with a number. */
    public Configuration with(String knob, int value) {
        return with(knob, Integer.toString(value));
    }

    /** A copy with a number, unless it is the default. */
    public Configuration withUnusual(String knob, int value, int usual) {
        return value == usual ? this : with(knob, value);
    }

    /** A copy with a flag, if it is on. */
    public Configuration withFlag(String knob, boolean isOn) {
        return isOn ? with(knob, "") : this;
    }

    /** The text of a knob's value. */
    public Optional<String> value(String knob) {
        return settings.stream()
                .filter(s -> s.knob().equals(knob))
                .map(Setting::value)
                .findFirst();
    }

    /** Whether a flag is on. */
    public boolean isOn(String flag) {
        return value(flag).isPresent();
    }

    /**
     * The numeric value of a knob.
     *
     * @throws IllegalArgumentException if it is not set
     */
    public int number(String knob) {
        return Integer.parseInt(
                value(knob).orElseThrow(() -> new IllegalArgumentException(text() + " does not set " + knob)));
    }

    /** The numeric value of a knob, or its default. */
    public int number(String knob, int usual) {
        return value(knob).map(Integer::parseInt).orElse(usual);
    }
}
