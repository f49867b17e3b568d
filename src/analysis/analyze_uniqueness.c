#include "analysis/analysis_point.h"

perp_status perp_analyze_uniqueness(analysis_point *point, perp_error *error)
{
    return perp_analysis_reason(point, -1, error, "uniqueness was not looked at");
}
