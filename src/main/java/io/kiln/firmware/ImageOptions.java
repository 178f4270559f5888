// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.incremental.NoInput;
import io.kiln.firmware.app.Application;

/**
 * What a user chooses about an image, whatever the models and the board are.
 *
 * @param application what runs on the image if the project's own C has no {@code main}
 * @param trusted archives whose C is compiled like the user's own
 */
public record ImageOptions(
        Application application,

        @NoInput(because = "it allows a build, and changes nothing in it")
        TrustedArchives trusted) {
    /** The default application; no archive is trusted. */
    public static final ImageOptions DEFAULT = new ImageOptions(Application.CONSOLE, TrustedArchives.NONE);

    /** The same options with another application. */
    public ImageOptions with(Application other) {
        return new ImageOptions(other, trusted);
    }
}
