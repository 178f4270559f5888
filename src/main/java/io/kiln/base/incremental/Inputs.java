// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

/** A value that is no record, and tells what results depend on. */
public interface Inputs {
    /** A record, or another value that a {@link Fingerprint} takes. */
    Object inputs();
}
