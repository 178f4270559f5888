// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.toolchain.compiler.Libc;
import io.kiln.toolchain.compiler.SourceKind;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What compilers call in C++ without exceptions and type information, so that no C++ library is linked: the ends of
 * static objects' lives, which a firmware does not have, calls of pure virtual functions, and {@code new} and
 * {@code delete}, which need a C library.
 */
final class CplusplusSupport {
    static final String FOLDER = "cplusplus";

    private static final String LIFETIME = "lifetime.cpp";
    private static final String HEAP = "heap.cpp";
    private static final String NO_HEAP = "no_heap.cpp";

    private CplusplusSupport() {}

    /** The sources for the C++ among these units, by their path in the C project. */
    static SortedMap<String, Bytes> files(FirmwareRequest request, List<SourceUnit> units) {
        SortedMap<String, Bytes> files = new TreeMap<>();
        if (units.stream().noneMatch(unit -> unit.kind() == SourceKind.CPLUSPLUS)) {
            return files;
        }
        boolean isHost = request.board().isHost();
        ResourceTree.read(FOLDER).forEach((name, content) -> {
            boolean isWanted = name.equals(isHost || request.code().libc() == Libc.NANO ? HEAP : NO_HEAP);
            if (isWanted || (name.equals(LIFETIME) && !isHost)) {
                files.put(FOLDER + "/" + name, content);
            }
        });
        return files;
    }
}
