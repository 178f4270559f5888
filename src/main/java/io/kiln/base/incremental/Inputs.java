// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

/** A value other than a record that says, for a {@link Fingerprint}, what results depend on. */
public interface Inputs {
    /** A record, or another value that a {@link Fingerprint} takes. */
    Object inputs();
}
