// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.firmware.OwnParts.InterruptTable;
import io.kiln.toolchain.compiler.SourceKind;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The files that the user's code needs beside itself. For C++ without exceptions and type information, so that no C++ library is
 * linked: the ends of static objects' lives, which a firmware does not have, calls of pure virtual functions, and {@code
 * new} and {@code delete}, which need a C library. For a C library: the way to the board. For handlers of interrupts: the
 * table of the board. For unit tests: their runner.
 */
final class CodeSupport {
    /** Folder of the unit tests' runner and header. */
    static final String UNIT = "unit";

    private static final String CPLUSPLUS = "cplusplus";
    private static final String LIBC = "libc";
    private static final String LIFETIME = "lifetime.cpp";
    private static final String HEAP = "heap.cpp";
    private static final String NO_HEAP = "no_heap.cpp";
    private static final String ATOMIC = "atomic.c";

    /** Folder of headers that stand before those of a C++ library whose C library is missing. */
    static final String FREESTANDING = "freestanding";

    private CodeSupport() {}

    /** The files that a request needs with these units of the user's, by their path in the C project. */
    static SortedMap<String, Bytes> files(FirmwareRequest request, List<SourceUnit> units) {
        SortedMap<String, Bytes> files = new TreeMap<>();
        boolean isHost = request.board().isHost();
        boolean hasMemory = isHost || request.code().flags().libc() == Libc.NANO;
        if (units.stream().anyMatch(unit -> unit.kind() == SourceKind.CPLUSPLUS)) {
            add(files, CPLUSPLUS, hasMemory ? HEAP : NO_HEAP);
            if (!isHost) {
                add(files, CPLUSPLUS, LIFETIME);
                add(files, CPLUSPLUS, ATOMIC);
            }
            if (request.toolchain().isFreestandingCplusplus()) {
                ResourceTree.read(FREESTANDING)
                        .forEach((name, content) -> files.put(FREESTANDING + "/" + name, content));
            }
        }
        if (request.code().flags().libc() == Libc.NANO && !isHost) {
            ResourceTree.read(LIBC).forEach((name, content) -> files.put(LIBC + "/" + name, content));
        }
        if (units.stream().anyMatch(unit -> unit.kind().isUsers())) {
            InterruptTable.source(request.board())
                    .ifPresent(text -> files.put(ProjectFiles.BOARD + "/" + InterruptTable.SOURCE, text));
        }
        if (request.code().hasTests()) {
            ResourceTree.read(UNIT).forEach((name, content) -> files.put(UNIT + "/" + name, content));
        }
        return files;
    }

    private static void add(SortedMap<String, Bytes> files, String folder, String name) {
        files.put(folder + "/" + name, ResourceTree.read(folder).get(name));
    }

    /** How a file is compiled, if it is a source. */
    static SourceKind kind(String name) {
        return UserFile.isCplusplus(name) ? SourceKind.CPLUSPLUS : SourceKind.FREESTANDING;
    }

    /**
     * A header included ahead of foreign C that defines one of the compiler's own functions: TVM's kernels for Arm's DSP
     * instructions define {@code __ror} (python/tvm/topi/arm_cpu/mprofile/dsp/micro_kernel/common.py). The archive's files
     * stay unchanged.
     */
    static final class ArmIntrinsics {
        /** The header's path in the C project. */
        static final String FILE = ArchivePaths.RUNTIME + "/" + ArchivePaths.INCLUDE + "/kiln_arm_intrinsics.h";

        private static final Pattern DEFINITION = Pattern.compile("\\buint32_t\\s+__ror\\s*\\(\\s*uint32_t\\b");

        private ArmIntrinsics() {}

        /** The header, if a model's C needs it. */
        static Optional<Bytes> header(List<ModelLibrary> models) {
            boolean isNeeded = models.stream()
                    .flatMap(model -> model.artifacts().of(ArtifactKind.SOURCE).stream())
                    .filter(Artifact::isForeign)
                    .anyMatch(source -> DEFINITION.matcher(source.text()).find());
            return isNeeded
                    ? Optional.of(ResourceTree.read("templates/foreign").get("kiln_arm_intrinsics.h"))
                    : Optional.empty();
        }
    }
}
