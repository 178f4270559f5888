// SPDX-License-Identifier: Apache-2.0
/** Decides beside the broker which job goes where, and tells what happens. Knows nothing of the engine. */
package io.kiln.farm.desk;
