// SPDX-License-Identifier: Apache-2.0
/** What operators of a farm read: its log on disk, its figures, and whether it is well. */
package io.kiln.farm.watch;
