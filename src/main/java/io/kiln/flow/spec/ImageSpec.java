// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.firmware.TrustedArchives;
import io.kiln.firmware.app.Application;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import java.util.List;

/**
 * What is linked with the models, and how the image runs.
 *
 * @param application what runs on the image if the project has no {@code main} of its own
 * @param code the project's own code
 * @param compilerFlags further flags of the C compiler, of those that a board's profile may have
 * @param trustedArchives archives whose C is compiled like the user's own
 * @param semihosting whether an image in QEMU may open files and start programs on this computer
 * @param verify how the image is verified
 */
public record ImageSpec(
        Application application,
        CodeSpec code,
        List<String> compilerFlags,
        TrustedArchives trustedArchives,
        boolean semihosting,
        VerifySpec verify) {
    public ImageSpec {
        compilerFlags = List.copyOf(compilerFlags);
    }
}
