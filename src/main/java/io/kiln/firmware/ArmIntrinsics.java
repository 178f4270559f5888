// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A header included ahead of foreign C that defines one of the compiler's own functions: TVM's kernels for Arm's DSP
 * instructions define {@code __ror} (python/tvm/topi/arm_cpu/mprofile/dsp/micro_kernel/common.py). The archive's files
 * stay unchanged.
 */
final class ArmIntrinsics {
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
