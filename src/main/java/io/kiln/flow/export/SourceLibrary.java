// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import io.kiln.base.Bytes;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Models as C, with the runtime that they need, before a build system gives them its form.
 *
 * @param name name of the library: letters, digits and underscores
 * @param version three numbers with dots between them
 * @param target the target string of which the C was made
 * @param models names of the models
 * @param sources C and assembly by file name
 * @param headers headers by path below the folder of headers
 * @param proof the files of the example that proves the answers, by file name
 */
record SourceLibrary(
        String name,
        String version,
        String target,
        List<String> models,
        SortedMap<String, Bytes> sources,
        SortedMap<String, Bytes> headers,
        SortedMap<String, Bytes> proof) {
    SourceLibrary {
        models = List.copyOf(models);
        sources = Collections.unmodifiableSortedMap(new TreeMap<>(sources));
        headers = Collections.unmodifiableSortedMap(new TreeMap<>(headers));
        proof = Collections.unmodifiableSortedMap(new TreeMap<>(proof));
    }
}
