// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.artifact.OperatorInfo;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.ir.Function;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.util.List;

/**
 * What a function becomes for the default board. Functions that are equal in it run the same kernels as often.
 *
 * @param operators what each does, by which schedule, and with how much work; without the shifts of sums, which are constants of the
 *     kernels that follow from the scales
 * @param executedMacs multiply-accumulates of all
 */
record CompiledWork(List<String> operators, long executedMacs) {
    static CompiledWork of(Function function) {
        CompileRequest request = RequestDraft.of(
                        Path.of("model"), Boards.builtIn().find("mps2-an386").target())
                .build();
        List<OperatorInfo> operators =
                ModelCompiler.compile(request, function).library().metadata().operators();
        return new CompiledWork(
                operators.stream()
                        .map(operator -> operator.op() + " "
                                + operator.choice().schedule().replaceFirst("shift=\\d+", "shift")
                                + " " + operator.cost())
                        .toList(),
                operators.stream().mapToLong(OperatorInfo::executedMacs).sum());
    }
}
