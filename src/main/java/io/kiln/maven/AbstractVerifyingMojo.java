// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.BuildSpecBuilder;
import io.kiln.flow.spec.VerifyOn;
import io.kiln.maven.bean.Verify;
import java.io.File;
import java.time.Duration;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** The parameters {@code kiln.verify.*} of every goal that builds, because they belong to the build. */
abstract class AbstractVerifyingMojo extends AbstractFlowMojo {
    /**
     * How the image is verified, by the elements {@code on}, {@code vectors}, {@code samples}, {@code seed},
     * {@code program}, {@code over}; the properties {@code kiln.verify.*} apply to those not set.
     *
     * @since 0.1.0
     */
    @Parameter
    private Verify verify;

    /**
     * Where the image is verified: {@code emulator}, {@code board} (flashed first, unless {@code kiln.flash.skip} is set) or
     * {@code none}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.on", defaultValue = "emulator")
    private String verifyOn;

    /**
     * A folder of {@code input_K.bin} and optional {@code output_K.bin}: all inputs (outputs) of case K in model order,
     * concatenated, raw little-endian. With several models, one such folder for each, named like the model. A model without such a folder has
     * the vectors of its artifact, if it comes from one.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.vectors")
    private File verifyVectors;

    /**
     * Number of random cases in addition to the vectors.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.samples", defaultValue = "2")
    private int verifySamples;

    /**
     * Seed of the random cases.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.seed", defaultValue = "0")
    private long verifySeed;

    /**
     * Emulated seconds for which the project's own program, if {@code src/main/c} has a {@code main}, runs in the emulator: a
     * fault, a stack that overflows, a call of {@code TVMPlatformAbort}, a failed {@code StackMemoryManager_Init} or an exit code other than 0
     * fails the verification. 0 skips this.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.program", defaultValue = "2")
    private int verifyProgram;

    /**
     * What the image is talked to by: {@code console}, the protocol of the default application, or {@code rpc}, microTVM's, for an
     * image with {@code kiln.application=rpc}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.over", defaultValue = "console")
    private String verifyOver;

    /** Sets how the image is verified. */
    final void verification(BuildSpecBuilder build) {
        Verify bean = verify == null ? new Verify() : verify;
        File vectors = bean.vectors() == null ? verifyVectors : bean.vectors();
        build.verify(new VerifySpec(
                        VerifyOn.EMULATOR,
                        Optional.ofNullable(vectors).map(File::toPath),
                        bean.samples() == null ? verifySamples : bean.samples(),
                        bean.seed() == null ? verifySeed : bean.seed(),
                        Duration.ofSeconds(bean.program() == null ? verifyProgram : bean.program())))
                .verifyOn(bean.on() == null ? verifyOn : bean.on(), bean.over() == null ? verifyOver : bean.over());
    }
}
