// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

/** Listens to the progress of flashing; called from a separate thread. */
public interface FlashProgress {
    /** Ignores progress. */
    FlashProgress QUIET = new FlashProgress() {
        @Override
        public void erasing() {}

        @Override
        public void written(long bytes) {}

        @Override
        public void verifying() {}
    };

    /** Erasing has started. */
    void erasing();

    /**
     * Part of the image has been written.
     *
     * @param bytes total so far
     */
    void written(long bytes);

    /** All is written; reading back has started. */
    void verifying();
}
