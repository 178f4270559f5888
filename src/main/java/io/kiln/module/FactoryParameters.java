// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.LazyList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The parameters of an executor's factory: their number, their names, then the arrays.
 *
 * @param names of the parameters
 * @param arrays in the order of their names
 */
record FactoryParameters(List<String> names, List<SerializedArray> arrays) {
    FactoryParameters {
        names = LazyList.copyOf(names);
        arrays = LazyList.copyOf(arrays);
    }

    static FactoryParameters read(ModuleReader in) {
        int at = in.position();
        int count = in.count(SerializedArray.LEAST_BYTES, "the number of parameters");
        List<String> names = in.texts("parameters");
        if (names.size() != count) {
            throw in.broken("there are " + count + " parameters and " + names.size() + " names", at);
        }
        return new FactoryParameters(names, SerializedArray.list(in, count));
    }

    void write(ModuleWriter out) {
        out.u64(names.size()).strings(names);
        arrays.forEach(array -> out.raw(array.bytes()));
    }

    /** A line for each. */
    List<String> lines() {
        return IntStream.range(0, names.size())
                .mapToObj(i -> names.get(i) + ": " + arrays.get(i).text())
                .toList();
    }
}
