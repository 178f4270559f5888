// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.incremental.NoInput;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import java.util.List;
import java.util.Optional;

/**
 * The settings of an image: what is linked with the models, and how it runs.
 *
 * @param options what the firmware takes as it is
 * @param code the project's own code
 * @param compilerFlags further flags of the C compiler, of those that a board's profile may have
 * @param semihosting whether an image in QEMU may open files and start programs on this computer
 * @param verify how the image is verified
 * @param farm runs the image in place of this computer; empty for this computer
 */
public record ImageSpec(
        ImageOptions options,

        @NoInput(because = "it is compiled beside generated C, and a verified image is an input itself")
        CodeSpec code,

        @NoInput(because = "the board has them, and is an input itself")
        List<String> compilerFlags,

        @NoInput(of = "generate", because = "it is asked for when the image runs")
        boolean semihosting,

        @NoInput(of = "generate", because = "it begins when the image is linked")
        VerifySpec verify,

        @NoInput(because = "answers are the same on a farm; its address may hold a secret")
        Optional<FarmUse> farm) {
    /** The default application without code of the project, verified in the emulator with two random cases. */
    public static final ImageSpec DEFAULT = new ImageSpec(
            ImageOptions.DEFAULT,
            CodeSpec.NONE,
            List.of(),
            false,
            new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 2, 0),
            Optional.empty());

    public ImageSpec {
        compilerFlags = List.copyOf(compilerFlags);
    }

    public ImageSpec with(ImageOptions other) {
        return new ImageSpec(other, code, compilerFlags, semihosting, verify, farm);
    }

    public ImageSpec with(VerifySpec other) {
        return new ImageSpec(options, code, compilerFlags, semihosting, other, farm);
    }

    /** The same settings with another farm, or none. */
    public ImageSpec onFarm(Optional<FarmUse> other) {
        return new ImageSpec(options, code, compilerFlags, semihosting, verify, other);
    }
}
