// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * By what a member selects messages, as it reads the condition that it gave to the broker: some brokers say that they select, and do not.
 *
 * @param wanted values by property
 * @param taker who may have jobs that are not for everybody; empty if it does not matter
 */
record Condition(Map<String, Set<String>> wanted, String taker) {
    private static final Pattern PART = Pattern.compile("([a-z]+) (?:=|IN) \\(?('[^']*'(?:, '[^']*')*)\\)?");
    private static final Pattern TAKER = Pattern.compile("takers LIKE '%(,[^']*,)%'");
    private static final Pattern VALUE = Pattern.compile("'([^']*)'");

    /** Reads {@code client = 'x'} or {@code place = 'x' AND board IN ('y', 'z')}, the latter perhaps with {@link FarmQueues#mayTake}; empty for all messages. */
    static Condition of(String filter) {
        Map<String, Set<String>> wanted = new HashMap<>();
        Matcher part = PART.matcher(filter);
        while (part.find()) {
            Set<String> values = new TreeSet<>();
            Matcher value = VALUE.matcher(part.group(2));
            while (value.find()) {
                values.add(value.group(1));
            }
            wanted.put(part.group(1), values);
        }
        Matcher taker = TAKER.matcher(filter);
        return new Condition(wanted, taker.find() ? taker.group(1) : "");
    }

    /** Whether a message is one of those. */
    boolean holds(FarmMessage message) {
        String takers = message.property(FarmQueues.TAKERS);
        return wanted.entrySet().stream().allMatch(each -> each.getValue().contains(message.property(each.getKey())))
                && (takers.isEmpty() || takers.contains(taker));
    }

    @Override
    public String toString() {
        return wanted.toString();
    }
}
