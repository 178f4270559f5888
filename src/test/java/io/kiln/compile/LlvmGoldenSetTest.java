// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain.ClangObjects;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Golden models as objects of LLVM on this machine, with the schedules of several cores; all of them with {@code -Dkiln.golden=all}. The
 * objects are for this machine in any case.
 */
class LlvmGoldenSetTest {
    private static final int SHARES = 12;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "0, llvm, SPEED",
        "1, llvm -mcpu=cortex-m4, SPEED",
        "2, llvm -mcpu=cortex-m4, SIZE",
        "3, llvm -mcpu=cortex-m55, SPEED",
        "4, llvm -march=rv32imac, RAM"
    })
    @NeedsShared("golden")
    void answersAsTheReferenceKernelsDo(int share, String target, Optimize optimize) {
        List<Path> models = GoldenModels.share(share, SHARES).stream()
                .map(GoldenModels::folder)
                .toList();
        check(models, target, optimize);
    }

    /** Those of the project's own, which are there in every checkout. */
    @Test
    void ownModelsAnswerAsTheInterpreterDoes() {
        check(OwnModel.folders(), "llvm -mcpu=cortex-m4", Optimize.SPEED);
    }

    private void check(List<Path> models, String target, Optimize optimize) {
        ClangObjects clang = ClangObjects.of("llvm", optimize, List.of(), TestToolchains.environment(Log.QUIET));
        GoldenAnswers.check(
                folder, models, target, request -> request.optimize(optimize).objects(Optional.of(clang)));
    }
}
