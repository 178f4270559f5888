// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.incremental.NoInput;
import io.kiln.firmware.app.Application;
import io.kiln.firmware.app.MlperfOptions;

/**
 * What a user chooses about an image, whatever the models and the board are.
 *
 * @param application what runs on the image if the project's own C has no {@code main}
 * @param mlperf how the image is measured if the application is that of MLPerf Tiny
 * @param trusted archives whose C is compiled like the user's own
 */
public record ImageOptions(
        Application application,
        MlperfOptions mlperf,

        @NoInput(because = "it allows a build, and changes nothing in it")
        TrustedArchives trusted) {
    public static final ImageOptions DEFAULT = new ImageOptions(Application.CONSOLE, TrustedArchives.NONE);

    /** Options of an image that is not measured. */
    public ImageOptions(Application application, TrustedArchives trusted) {
        this(application, MlperfOptions.USUAL, trusted);
    }

    /** The same options with another application. */
    public ImageOptions with(Application other) {
        return new ImageOptions(other, mlperf, trusted);
    }
}
