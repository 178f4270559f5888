// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.codegen.c.UsedIntrinsics;
import io.kiln.reference.OwnModel;
import io.kiln.target.TestTargets;
import io.kiln.tir.Kernel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Layers of one shape share a kernel, whatever their scales are. */
class KernelsOfLayersTest {
    @Test
    void noKernelIsThereTwiceForTwoShifts() {
        CompiledModel model = ModelCompiler.compile(RequestDraft.of(OwnModel.KEYWORDS.model(), TestTargets.M4)
                .name("keywords")
                .build());
        List<String> kernels = UsedIntrinsics.kernels(model.code().functions()).stream()
                .map(Kernel::name)
                .filter(name -> name.contains("_shift"))
                .toList();
        assertThat(kernels).hasSizeGreaterThan(3);
        assertThat(kernels.stream().map(name -> name.replaceAll("_scale\\d+_shift\\d+", "")))
                .doesNotHaveDuplicates();
    }
}
