// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.device.emulator.DebugStub.Stop;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Counts one call of a function and the calls that it makes. QEMU translates code near a breakpoint one instruction at
 * a time, so while a function runs only its return has a breakpoint, and inner loops run at full speed.
 */
final class CallCounter {
    private final DebugStub stub;
    private final Map<Long, String> names = new TreeMap<>();
    private final Map<String, Long> counts = new LinkedHashMap<>();
    private final Set<Long> watched = new TreeSet<>();

    /**
     * @param stub debug stub of a stopped image
     * @param functions addresses of the functions by name; a function cloned by the compiler has several
     */
    CallCounter(DebugStub stub, Map<String, List<Long>> functions) {
        this.stub = stub;
        functions.forEach((name, addresses) -> {
            addresses.forEach(address -> names.put(address, name));
            counts.put(name, 0L);
        });
    }

    /** Sums by function, in the order given. */
    Map<String, Long> counts() {
        return counts;
    }

    /**
     * Counts one call.
     *
     * @param entry the stop at the outer function's first instruction, without a breakpoint there any more
     * @return instructions of the whole call; the image is stopped at its return address, without breakpoints
     */
    long countCall(Stop entry) {
        Set<Long> between = new TreeSet<>(names.keySet());
        between.add(entry.returnAddress());
        while (true) {
            Stop stop = runTo(between);
            if (stop.address() != entry.returnAddress()) {
                Stop exit = runTo(Set.of(stop.returnAddress()));
                counts.merge(names.get(stop.address()), exit.instructions() - stop.instructions(), Long::sum);
                stop = exit;
            }
            // A tail call in the outer function may return for both.
            if (stop.address() == entry.returnAddress()) {
                watch(Set.of());
                return stop.instructions() - entry.instructions();
            }
        }
    }

    private Stop runTo(Set<Long> addresses) {
        watch(addresses);
        stub.resume();
        return stub.await();
    }

    private void watch(Set<Long> addresses) {
        for (Entry<Long, Boolean> change : changes(addresses).entrySet()) {
            if (change.getValue()) {
                stub.stopAt(change.getKey());
                watched.add(change.getKey());
            } else {
                stub.passBy(change.getKey());
                watched.remove(change.getKey());
            }
        }
    }

    private Map<Long, Boolean> changes(Set<Long> addresses) {
        Map<Long, Boolean> changes = new TreeMap<>();
        watched.stream()
                .filter(address -> !addresses.contains(address))
                .forEach(address -> changes.put(address, false));
        addresses.stream().filter(address -> !watched.contains(address)).forEach(address -> changes.put(address, true));
        return changes;
    }
}
