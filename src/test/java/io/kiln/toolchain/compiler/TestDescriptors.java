// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import java.util.List;

/** Descriptors of compilers as files. */
public final class TestDescriptors {
    private TestDescriptors() {}

    /** Those that come with Kiln. */
    public static List<Bytes> builtIn() {
        return List.copyOf(ResourceTree.read("toolchains/compilers").values());
    }

    /** Reads a descriptor as one of somebody else; no compiler is looked for. */
    public static void read(Bytes content) {
        Toolchains.read("fuzzed.yaml", content);
    }
}
