// SPDX-License-Identifier: Apache-2.0
/** Tuning records in the format of AutoTVM's logs: reading, writing, choosing the best, and finding one for an operator. */
package io.kiln.tuning.record;
