// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.device.transport.SessionLimits;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import java.time.Duration;
import java.util.Optional;

/** {@code <verify>}: how the image is verified. */
public final class Verify {
    private static final Element ON = Element.of(
            "on",
            "emulator",
            "Where the image is verified: emulator, board (flashed first, unless kiln.flash.skip is set) or none.");
    private static final Element VECTORS = Element.of(
            "vectors",
            "A folder of input_K.bin and optional output_K.bin: all inputs (outputs) of case K in model order,"
                    + " concatenated, raw little-endian. With several models, one such folder for each, named like the"
                    + " model. A model without such a folder has the vectors of its artifact, if it comes from one.");
    private static final Element SAMPLES =
            Element.of("samples", "2", "Number of random cases in addition to the vectors.");
    private static final Element SEED = Element.of("seed", "0", "Seed of the random cases.");
    private static final Element PROGRAM = Element.of(
            "program",
            "2",
            "Emulated seconds for which the project's own program, if src/main/c has a main, runs in the emulator: a"
                    + " fault, a stack that overflows, a call of TVMPlatformAbort, a failed StackMemoryManager_Init or an"
                    + " exit code other than 0 fails the verification. 0 skips this.");
    private static final Element OVER = Element.of(
            "over",
            "console",
            "What the image is talked to by: console, the protocol of the default application, or rpc, microTVM's, for"
                    + " an image with kiln.application=rpc.");

    private static final Element START = Element.of(
            "start",
            "Seconds until an image must answer. If not set: on a board 3 on the console and 5 over RPC, in an emulator"
                    + " 10 over RPC. Those of an emulator grow as busy as this computer is.");
    private static final Element ANSWER = Element.of(
            "answer", "Seconds for each answer of an image, which grow alike. If not set, what is asked tells.");

    private static final Element ORIGINAL = Element.of(
                    "original",
                    "The model as it was before Vela compiled it for an NPU: what the interpreter answers to it is"
                            + " what the image must answer.")
            .single()
            .alone("npu.original");

    public static final ParameterGroup GROUP =
            new ParameterGroup("verify", ON, VECTORS, SAMPLES, SEED, PROGRAM, OVER, START, ANSWER, ORIGINAL);

    private Verify() {}

    /**
     * How the image is verified.
     *
     * @param malformed gets what cannot be parsed
     */
    public static VerifySpec spec(GroupValues verify, Problems malformed) {
        return new VerifySpec(
                malformed
                        .read(() -> ParameterValue.of("kiln.verify.on", VerifyOn.class, verify.text(ON)))
                        .orElse(VerifyOn.EMULATOR),
                verify.file(VECTORS),
                malformed.read(() -> verify.small(SAMPLES)).orElse(0),
                malformed.read(() -> verify.whole(SEED)).orElse(0L),
                Duration.ofSeconds(malformed.read(() -> verify.small(PROGRAM)).orElse(0)),
                new VerifySpec.Line(
                        malformed
                                .read(() -> ParameterValue.of("kiln.verify.over", VerifyOver.class, verify.text(OVER)))
                                .orElse(VerifyOver.CONSOLE),
                        new SessionLimits(seconds(verify, START, malformed), seconds(verify, ANSWER, malformed))),
                verify.file(ORIGINAL));
    }

    private static Optional<Duration> seconds(GroupValues verify, Element element, Problems malformed) {
        return malformed
                .read(() -> verify.smallIfSet(element))
                .flatMap(set -> set)
                .map(seconds -> Duration.ofSeconds(Math.max(1, seconds)));
    }
}
