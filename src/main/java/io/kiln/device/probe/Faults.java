// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The faults of a probe from one start to the next; may be empty. */
public record Faults(List<Fault> list) {
    public Faults {
        list = List.copyOf(list);
    }

    public static Faults none() {
        return new Faults(List.of());
    }

    public static Faults of(Fault... faults) {
        return new Faults(List.of(faults));
    }

    /**
     * Reads faults from text, such as {@code protected-sector:0, slow:2}; blank text means none. The kinds: {@code wrong-tap-id:<id>},
     * {@code wrong-chip-id:<id>}, {@code write-error:<address>}, {@code protected-sector:<0 to 11>}, {@code read-protected},
     * {@code flipped-bit:<address>:<0 to 7>}, {@code dropped:<bytes>}, {@code silent:<bytes>}, {@code power-lost:<bytes>} and
     * {@code slow:<milliseconds>}. Numbers are decimal or start with 0x.
     *
     * @param where place named in problems, such as the parameter
     * @throws io.kiln.base.KilnException with all faults that cannot be parsed
     */
    public static Faults parse(String text, String where) {
        return new FaultText(where).parse(text);
    }

    /** The first fault of a kind. */
    <F extends Fault> Optional<F> find(Class<F> kind) {
        return all(kind).findFirst();
    }

    <F extends Fault> Stream<F> all(Class<F> kind) {
        return list.stream().filter(kind::isInstance).map(kind::cast);
    }
}
