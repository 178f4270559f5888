// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

/** Hears how far flashing is; called from a thread of its own. */
public interface FlashProgress {
    /** Hears nothing. */
    FlashProgress QUIET = new FlashProgress() {
        @Override
        public void erasing() {}

        @Override
        public void written(long bytes) {}

        @Override
        public void verifying() {}
    };

    /** The old content goes. */
    void erasing();

    /**
     * So much was written.
     *
     * @param bytes since the beginning
     */
    void written(long bytes);

    /** All was written; it is read back. */
    void verifying();
}
