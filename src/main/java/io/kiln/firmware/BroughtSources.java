// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A library of C that the user brings and that models call, such as CMSIS-NN. It is compiled like the user's own C.
 *
 * @param folder its folder in the C project
 * @param files its sources that are needed, and its headers, by path below the folder
 * @param includes folders of its headers, below the folder
 * @param substitutes folders, below the folder, of headers for those that a small C library lacks: they are searched after all others
 */
public record BroughtSources(
        String folder, SortedMap<String, Bytes> files, List<String> includes, List<String> substitutes) {
    /** No library. */
    public static final BroughtSources NONE = new BroughtSources("", new TreeMap<>(), List.of(), List.of());

    public BroughtSources {
        files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
        includes = List.copyOf(includes);
        substitutes = List.copyOf(substitutes);
    }
}
