// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.incremental.Fingerprint;
import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.CustomOperators;
import io.kiln.transform.PassOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * What the user changes about the compiler: its passes, and what it takes for an operator.
 *
 * @param fuseMaxDepth how many bindings a fused group may hold
 * @param disabledPasses names of passes that are left out
 * @param dumpIr whether the IR is written after each pass
 * @param customOperators operators that C functions of the user's compute
 */
public record PipelineSpec(
        int fuseMaxDepth, List<String> disabledPasses, boolean dumpIr, CustomOperators customOperators) {
    /** Every pass, nothing written. */
    public static final PipelineSpec STANDARD =
            new PipelineSpec(PassOptions.DEFAULT_MAX_FUSION_DEPTH, List.of(), false);

    /** Passes without functions of the user's. */
    public PipelineSpec(int fuseMaxDepth, List<String> disabledPasses, boolean dumpIr) {
        this(fuseMaxDepth, disabledPasses, dumpIr, CustomOperators.NONE);
    }

    /**
     * A C function that computes an operator of its own, as the configuration names it; see {@link CustomOperator}.
     *
     * @param quantization whether the function gets the scales and zero points of its tensors
     * @param options whether the function gets the bytes of the operator's options
     */
    public record UserFunction(
            String code, String function, String header, String shape, boolean quantization, boolean options) {
        private CustomOperator operator() {
            List<String> passed = new ArrayList<>();
            if (quantization) {
                passed.add(CustomOperator.QUANTIZATION);
            }
            if (options) {
                passed.add(CustomOperator.OPTIONS);
            }
            return new CustomOperator(code, function, header, shape, String.join(",", passed));
        }
    }

    /**
     * The same with functions as the configuration names them.
     *
     * @param functions one by one
     * @param more in one line, as {@link CustomOperators#parse} reads it; blank for none
     * @throws io.kiln.base.KilnException with everything that is wrong with them
     */
    public PipelineSpec withFunctions(List<UserFunction> functions, String more) {
        List<CustomOperator> operators = new ArrayList<>();
        functions.forEach(each -> operators.add(each.operator()));
        operators.addAll(CustomOperators.parse(more));
        return new PipelineSpec(fuseMaxDepth, disabledPasses, dumpIr, CustomOperators.of(operators));
    }

    public PipelineSpec {
        disabledPasses = List.copyOf(disabledPasses);
    }

    /**
     * As the compiler takes it.
     *
     * @throws io.kiln.base.KilnException with everything that is wrong with it
     */
    public PassOptions options() {
        return PassOptions.of(fuseMaxDepth, disabledPasses);
    }

    /** Adds all that generated files depend on. */
    public Fingerprint addTo(Fingerprint fingerprint) {
        return fingerprint
                .setting("fuse.maxDepth", fuseMaxDepth)
                .setting(
                        "disabledPasses",
                        disabledPasses.stream().sorted().distinct().toList())
                .setting("dumpIr", dumpIr)
                .setting("customOperators", customOperators.text());
    }
}
