// SPDX-License-Identifier: Apache-2.0
/** Searches spaces of configurations: which one to measure next. It knows nothing of schedules. */
package io.kiln.tuning.search;
