// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.FlashSpec;
import io.kiln.maven.session.Upload;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/**
 * Writes the image to the board with OpenOCD, reads it back and starts it; adds to {@code target/kiln/flash.json}.
 * Called by hand, it first builds what is out of date.
 *
 * @since 0.1.0
 */
@Mojo(name = "flash", defaultPhase = LifecyclePhase.DEPLOY, requiresProject = false, threadSafe = true)
public final class FlashMojo extends AbstractDeviceMojo {
    @Override
    boolean isGoalSkipped() {
        return isFlashSkipped();
    }

    /** Maven's upload follows, whether or not anything is flashed. */
    @Override
    void prepare() {
        if (isPartOfLifecycle()) {
            new Upload(project(), session()).leaveOutIfNothingSaysWhereTo(getLog());
        }
    }

    @Override
    void run() {
        FlashSpec flash = flashSpec();
        if (isPartOfLifecycle()) {
            flow().flash(spec(), flash);
        } else {
            flow().buildAndFlash(spec(), flash);
        }
    }
}
