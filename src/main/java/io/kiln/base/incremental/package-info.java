// SPDX-License-Identifier: Apache-2.0
/**
 * What results were made from, remembered between builds: a {@link io.kiln.base.incremental.Fingerprint} is what a result depends on now,
 * {@link io.kiln.base.incremental.Made} what it was made from, and {@link io.kiln.base.incremental.Journal} the file that keeps it.
 */
package io.kiln.base.incremental;
