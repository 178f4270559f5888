// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.TargetText;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A compilation target in microTVM's terms, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=stm32f405}.
 *
 * <p>Canonical form: the kind, then {@code -keys}, then the other attributes sorted by name; empty values, {@code host}
 * and {@code tag} are omitted. Names and values have the characters of {@link TargetText}.
 *
 * @param kind kind of code generator
 * @param keys keys that select schedules, most specific first
 * @param attributes values by name, without the leading dash and without {@code keys}
 */
public record Target(TargetKind kind, List<String> keys, SortedMap<String, String> attributes) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]*");
    private static final Set<String> NOT_PRINTED = Set.of("host", "tag");

    /** Adds keys: those given, then the device's, then the CPU's or the kind's own. */
    public Target {
        TreeMap<String, String> kept = new TreeMap<>();
        attributes.forEach((name, value) -> {
            check(NAME.matcher(name).matches() && !name.equals("keys"), "`" + name + "` cannot name an attribute");
            check(value.isEmpty() || TargetText.isWord(value), "`" + value + "` cannot be the value of `" + name + "`");
            if (!value.isEmpty() && !NOT_PRINTED.contains(name)) {
                kept.put(name, value);
            }
        });
        String device = kept.getOrDefault("device", "device");
        check(NAME.matcher(device).matches(), "`" + device + "` cannot be a device");
        for (String key : keys) {
            check(NAME.matcher(key).matches(), "`" + key + "` cannot be a key");
        }
        attributes = Collections.unmodifiableSortedMap(kept);
        keys = allKeys(keys, kept);
    }

    /**
     * Reads a target string. Attributes may be written {@code -name=value}, {@code --name=value}, {@code -name value}, or
     * {@code -name} alone, which means 1.
     *
     * @throws KilnException with all errors and their columns
     */
    public static Target parse(String text) {
        return new TargetParser(text).parse();
    }

    /** The canonical string; {@link #parse} reads it back to an equal target. */
    public String text() {
        StringBuilder text = new StringBuilder(kind.text()).append(" -keys=").append(String.join(",", keys));
        attributes.forEach(
                (name, value) -> text.append(" -").append(name).append('=').append(value));
        return text.toString();
    }

    public Optional<String> attribute(String name) {
        return Optional.ofNullable(attributes.get(name));
    }

    /** The CPU with its extensions, such as {@code cortex-m33+nodsp}. */
    public Optional<String> mcpu() {
        return attribute("mcpu");
    }

    /** The features of the CPU. */
    public CpuFeatures features() {
        return CpuFeatures.of(this);
    }

    @Override
    public String toString() {
        return text();
    }

    private static List<String> allKeys(List<String> given, SortedMap<String, String> attributes) {
        Set<String> all = new LinkedHashSet<>(given);
        Optional.ofNullable(attributes.get("device")).ifPresent(all::add);
        if (CortexM.find(attributes.getOrDefault("mcpu", "")).isPresent()) {
            all.add("arm_cpu");
            all.add("cpu");
        } else if (given.isEmpty()) {
            all.add("cpu");
        }
        return List.copyOf(all);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new KilnException(Failure.TARGET.problem(what, "target"));
        }
    }
}
